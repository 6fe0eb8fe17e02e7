//! The `examples` stage: every example is a complete program, so each one is run and must succeed.
//! A folder below `examples/` or a file in the `examples/` of a crate registers itself. The
//! manifest may name arguments: `args` under `[package.metadata.example]`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::builds;
use crate::failure::Failure;
use crate::manifest::{self, Entry};
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::workspace;

/// The time limit of an example.
const LIMIT: Duration = Duration::from_secs(60);
/// Stands for an empty folder among the arguments of an example.
const FOLDER: &str = "DIR";

/// One runnable example: a program of the test build, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Example {
    /// Its path below `target/debug`.
    program: String,
    args: Vec<String>,
}

pub(crate) fn run_all() -> Result<Verdict, Failure> {
    let examples = find(&workspace::root());
    if examples.is_empty() {
        return Err(Failure::new("there are no examples below `examples/`"));
    }
    // Build first: the limit is for running.
    builds::workspace("build", &["--bins", "--examples"]).run()?;
    let scratch = Scratch::new("examples")?;
    for (example, number) in examples.iter().zip(1..) {
        let program = workspace::target().join("debug").join(&example.program);
        let args = example.args_in(&scratch.path(&format!("{number}")));
        Invocation::new(&program.display().to_string(), &[])
            .args(&args)
            .within(LIMIT)
            .run()?;
    }
    Ok(Verdict::Passed)
}

impl Example {
    /// Its arguments, with an empty folder in place of `DIR`.
    fn args_in(&self, folder: &str) -> Vec<String> {
        let own = self.args.iter().map(|arg| match arg.as_str() {
            FOLDER => folder.to_owned(),
            _ => arg.clone(),
        });
        own.collect()
    }
}

fn find(root: &Path) -> BTreeSet<Example> {
    let mut found = BTreeSet::new();
    let manifest = |folder: &Path| {
        let text = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        let name = manifest::package_name(&text)?.to_owned();
        Some((name, run_args(&text)))
    };
    for folder in names_in(&root.join("examples")) {
        if let Some((program, args)) = manifest(&root.join("examples").join(folder)) {
            found.insert(Example { program, args });
        }
    }
    for folder in names_in(&root.join("crates")) {
        let folder = root.join("crates").join(folder);
        let Some((_, args)) = manifest(&folder) else {
            continue;
        };
        for name in discovered(&folder.join("examples")) {
            let (program, args) = (format!("examples/{name}"), args.clone());
            found.insert(Example { program, args });
        }
    }
    found
}

/// The arguments that a manifest names.
fn run_args(text: &str) -> Vec<String> {
    let entries = manifest::entries(text).into_iter();
    let of_example = |e: &Entry<'_>| e.section == "package.metadata.example" && e.key == "args";
    let list = entries.filter(of_example).map(|entry| entry.value).next();
    let words = list.unwrap_or_default().trim_matches(['[', ']']).split(',');
    words
        .filter_map(|word| manifest::unquoted(word.trim()))
        .map(str::to_owned)
        .collect()
}

/// The examples that cargo finds by itself: `<name>.rs` and `<name>/main.rs`.
fn discovered(folder: &Path) -> Vec<String> {
    names_in(folder)
        .into_iter()
        .filter_map(|name| match name.strip_suffix(".rs") {
            Some(stem) => Some(stem.to_owned()),
            None => folder.join(&name).join("main.rs").is_file().then_some(name),
        })
        .collect()
}

/// The names in a folder, sorted. Empty if the folder does not exist.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_runs_with_the_arguments_of_its_manifest_in_an_empty_folder() {
        let args_of = |text: &str| {
            let (program, args) = (String::new(), run_args(text));
            Example { program, args }.args_in("scratch/1")
        };
        let importer = "[package]\nname = \"importer\"\n\n[package.metadata.example]\n\
                        args = [\"DIR\", \"2000\"]\n\n[dependencies]\n";
        assert_eq!(args_of(importer), ["scratch/1", "2000"]);
        assert!(args_of("[package]\nname = \"plain\"\n").is_empty());
    }
}
