//! The `examples` stage: every example is a complete program, so every one is run and must end well.
//! Found by looking at the tree, so that adding an example registers it: `examples/<name>/` with a
//! manifest of its own, `examples/` inside a crate, or an `[[example]]` in a crate's manifest. The manifest
//! may say what to run them with: `args` under `[package.metadata.example]`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;
use crate::manifest::{self, Entry};
use crate::process::Invocation;
use crate::scratch::Scratch;
use crate::stage::Verdict;
use crate::workspace;

/// An example shows something to a person who waits; one that needs longer shows too much.
const LIMIT: Duration = Duration::from_secs(60);
/// Among the arguments of an example, an empty folder: what an earlier run left there would be half the work.
const FOLDER: &str = "DIR";

/// One runnable example.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Example {
    /// A package of its own under `examples/`, by its manifest, and what it is run with.
    Package { manifest: String, args: Vec<String> },
    /// An example target of a crate.
    Target {
        package: String,
        name: String,
        features: String,
        args: Vec<String>,
    },
}

pub(crate) fn run_all() -> Result<Verdict, Failure> {
    let examples = find(&workspace::root());
    if examples.is_empty() {
        return Ok(Verdict::Skipped("there are none yet".to_owned()));
    }
    // Build first: the limit is for running.
    for example in &examples {
        example.invocation("build").run()?;
    }
    let scratch = Scratch::new("examples")?;
    for (example, number) in examples.iter().zip(1..) {
        let args = example.args(&scratch.path(&format!("{number}")));
        example.invocation("run").args(&args).within(LIMIT).run()?;
    }
    Ok(Verdict::Passed)
}

impl Example {
    fn invocation(&self, verb: &str) -> Invocation {
        match self {
            Self::Package { manifest, .. } => {
                Invocation::cargo(&[verb, "--locked", "--manifest-path", manifest])
            }
            Self::Target {
                package,
                name,
                features,
                ..
            } => {
                let mut args = vec![verb, "--locked", "--package", package, "--example", name];
                if !features.is_empty() {
                    args.extend(["--features", features]);
                }
                Invocation::cargo(&args)
            }
        }
    }

    /// What stands behind the command: nothing, or `--` and the program's own arguments.
    fn args(&self, folder: &str) -> Vec<String> {
        let (Self::Package { args, .. } | Self::Target { args, .. }) = self;
        let own = args.iter().map(|arg| match arg.as_str() {
            FOLDER => folder.to_owned(),
            _ => arg.clone(),
        });
        let dashes = (!args.is_empty()).then(|| "--".to_owned());
        dashes.into_iter().chain(own).collect()
    }
}

fn find(root: &Path) -> BTreeSet<Example> {
    let mut found = BTreeSet::new();
    for name in names_in(&root.join("examples")) {
        let manifest = format!("examples/{name}/Cargo.toml");
        if let Ok(text) = fs::read_to_string(root.join(&manifest)) {
            let args = run_args(&text);
            found.insert(Example::Package { manifest, args });
        }
    }
    for folder in names_in(&root.join("crates")) {
        let folder = root.join("crates").join(folder);
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let Some(package) = manifest::package_name(&text) else {
            continue;
        };
        let declared = declared(package, &text);
        for name in discovered(&folder.join("examples")) {
            let is_declared =
                |e: &Example| matches!(e, Example::Target { name: n, .. } if *n == name);
            if !declared.iter().any(is_declared) {
                let (package, features) = (package.to_owned(), String::new());
                found.insert(Example::Target {
                    package,
                    name,
                    features,
                    args: run_args(&text),
                });
            }
        }
        found.extend(declared);
    }
    found
}

/// What a package says it is run with.
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

/// The examples that a manifest names itself.
fn declared(package: &str, text: &str) -> Vec<Example> {
    let entries = manifest::entries(text);
    let of_example = |entry: &&Entry<'_>| entry.section == "[example]";
    let names = entries
        .iter()
        .filter(of_example)
        .filter(|entry| entry.key == "name");
    names
        .filter_map(|entry| {
            let name = manifest::unquoted(entry.value)?.to_owned();
            let features = entries
                .iter()
                .find(|e| e.section_number == entry.section_number && e.key == "required-features")
                .map(|e| e.value.replace(['[', ']', '"', ' '], ""))
                .unwrap_or_default();
            Some(Example::Target {
                package: package.to_owned(),
                name,
                features,
                args: run_args(text),
            })
        })
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

/// The names in a folder, sorted; none if there is no such folder.
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
    fn a_declared_example_brings_its_features() {
        let text = "[[example]]\nname = \"plain\"\n\n[[example]]\nname = \"disk\"\n\
                    path = \"../../examples/disk.rs\"\nrequired-features = [\"embedded\", \"cli\"]\n";
        let shown: Vec<_> = declared("everstep", text)
            .iter()
            .map(|e| e.invocation("run").shown())
            .collect();
        let expected = [
            "cargo run --locked --package everstep --example plain",
            "cargo run --locked --package everstep --example disk --features embedded,cli",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_package_is_run_with_what_its_manifest_says_in_a_folder_of_its_own() {
        let args_of = |text: &str| {
            let (manifest, args) = (String::new(), run_args(text));
            Example::Package { manifest, args }.args("scratch/1")
        };
        let importer = "[package]\nname = \"importer\"\n\n[package.metadata.example]\n\
                        args = [\"DIR\", \"2000\"]\n\n[dependencies]\n";
        assert_eq!(args_of(importer), ["--", "scratch/1", "2000"]);
        assert!(args_of("[package]\nname = \"plain\"\n").is_empty());
    }
}
