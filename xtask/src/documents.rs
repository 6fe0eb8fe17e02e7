//! The documents whose commands and programs the stages `commands` and `program` execute, and their
//! code blocks.

use std::fs;

use crate::failure::Failure;
use crate::workspace;

/// A document and its path from the root.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: String,
    text: String,
}

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// The text after the opening fence.
    pub(crate) language: &'a str,
    pub(crate) body: String,
}

impl Document {
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let text = fs::read_to_string(workspace::root().join(path))
            .map_err(|error| Failure::new(format!("cannot read {path}: {error}")))?;
        let path = path.to_owned();
        Ok(Self { path, text })
    }

    /// The first block of a language.
    pub(crate) fn block(&self, language: &str) -> Result<String, Failure> {
        let mut blocks = blocks(&self.text).into_iter();
        let found = blocks.find(|block| block.language == language);
        let message = || format!("{} has no block of `{language}`", self.path);
        found
            .map(|block| block.body)
            .ok_or_else(|| Failure::new(message()))
    }

    /// Shell commands: the lines of `console` and `shell` blocks that begin with a prompt. The
    /// other lines of `shell` blocks are responses, which the tests of `crates/cli` compare.
    pub(crate) fn commands(&self) -> Vec<String> {
        let blocks = blocks(&self.text).into_iter();
        let consoles = blocks.filter(|block| matches!(block.language, "console" | "shell"));
        let lines =
            consoles.flat_map(|block| block.body.lines().map(str::to_owned).collect::<Vec<_>>());
        lines
            .filter_map(|line| line.strip_prefix("$ ").map(str::to_owned))
            .collect()
    }
}

/// Every document whose commands are run: the README, the index, the page on performance and the
/// guides.
pub(crate) fn all() -> Result<Vec<Document>, Failure> {
    let folder = workspace::root().join("docs/guides");
    let entries = fs::read_dir(&folder)
        .map_err(|error| Failure::new(format!("cannot list {}: {error}", folder.display())))?;
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let mut guides: Vec<String> = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/guides/{name}"))
        .collect();
    guides.sort();
    let first = ["README.md", "docs/README.md", "docs/performance.md"].map(str::to_owned);
    let paths = first.into_iter().chain(guides);
    paths.map(|path| Document::read(&path)).collect()
}

/// The fenced blocks of a text, in order. Fences are three backticks at the start of a line.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let body = String::new();
                open = Some(Block { language, body });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.body.push_str(line);
                block.body.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documents that a newcomer follows.
    const NEWCOMER: [&str; 6] = [
        "README.md",
        "docs/guides/getting-started.md",
        "docs/guides/http-api.md",
        "docs/guides/streams.md",
        "docs/guides/security.md",
        "docs/guides/observing.md",
    ];
    /// The documents whose responses the tests of `crates/cli` compare.
    const WITH_RESPONSES: [&str; 2] = ["docs/guides/http-api.md", "docs/guides/streams.md"];

    /// Fails if no test executes the block exactly as a reader sees it.
    fn is_executed(path: &str, block: &Block<'_>) -> Result<(), &'static str> {
        let has_responses = block.body.lines().any(|line| !line.starts_with("$ "));
        let is_hidden = |line: &str| line == "#" || line.starts_with("# ");
        match block.language {
            // The stage `commands`.
            "console" if has_responses => Err("`console` blocks contain only commands"),
            "console" => Ok(()),
            "shell" if !WITH_RESPONSES.contains(&path) => Err("no test compares the responses"),
            "shell" if !block.body.starts_with("$ ") => Err("the first line is no command"),
            "shell" => Ok(()),
            // The documentation tests.
            "rust" if block.body.lines().any(is_hidden) => Err("readers see hidden lines"),
            "rust" if !block.body.contains("fn main()") => Err("it is no complete program"),
            "rust" => Ok(()),
            // The stage `program`.
            "rust,no_run" if path == "README.md" => Ok(()),
            "toml" if path == "README.md" || path == "docs/guides/getting-started.md" => Ok(()),
            // The stage `conformance`.
            "js" if path == "docs/guides/http-api.md" => Ok(()),
            // Output.
            "text" => Ok(()),
            _ => Err("no test executes it"),
        }
    }

    #[test]
    fn every_block_that_a_newcomer_sees_is_executed_or_is_output() {
        for path in NEWCOMER {
            let document = Document::read(path).unwrap();
            for block in blocks(&document.text) {
                let checked = is_executed(path, &block);
                assert_eq!(checked, Ok(()), "{path}: {block:?}");
            }
        }
    }

    #[test]
    fn a_block_that_is_not_executed_as_shown_is_found() {
        for (language, body) in [
            ("", "$ everstep dev\n"),
            ("console", "$ everstep list\nno run\n"),
            ("shell", "$ everstep list\nno run\n"),
            ("rust", "# use everstep::Engine;\nfn main() {}\n"),
            ("rust", "Engine::in_memory();\n"),
            ("rust,ignore", "fn main() {}\n"),
        ] {
            let body = body.to_owned();
            let block = Block { language, body };
            assert!(is_executed("README.md", &block).is_err(), "{block:?}");
        }
    }

    #[test]
    fn only_lines_with_a_prompt_are_commands() {
        let text =
            "```console\n$ cargo run\n```\n```shell\n$ curl\n{}\n```\n```toml\n$ no\n```\n$ no\n";
        let (path, text) = (String::new(), text.to_owned());
        let document = Document { path, text };
        assert_eq!(document.commands(), ["cargo run", "curl"]);
        assert_eq!(document.block("toml").unwrap(), "$ no\n");
        assert!(document.block("rust").is_err());
    }

    #[test]
    fn the_program_in_the_readme_is_the_example() {
        let program = Document::read("README.md")
            .unwrap()
            .block("rust,no_run")
            .unwrap();
        let example =
            fs::read_to_string(workspace::root().join("examples/getting-started/src/main.rs"))
                .unwrap();
        assert_eq!(
            program, example,
            "README.md and examples/getting-started differ"
        );
    }

    #[test]
    fn readme_and_guide_name_the_same_dependencies() {
        let of = |path: &str| Document::read(path).unwrap().block("toml").unwrap();
        assert_eq!(of("README.md"), of("docs/guides/getting-started.md"));
    }
}
