//! The files the rules look at, read once: what git tracks or would track, as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::rust_text;
use crate::failure::Failure;
use crate::process::Invocation;

/// All files of the repository, in the order of their paths.
#[derive(Debug)]
pub(crate) struct Repository {
    files: BTreeMap<String, SourceFile>,
}

/// One file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    /// Bytes that are not UTF-8 are replaced; no rule depends on them.
    pub(crate) text: String,
    /// For Rust, the text with comments and literals blanked at equal length; empty otherwise.
    pub(crate) code: String,
}

impl Repository {
    /// Reads the repository at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self, Failure> {
        let listed = match listed_by_git() {
            Some(paths) => paths,
            None => {
                println!("      git does not answer here: looking at every file but build output");
                let mut paths = Vec::new();
                walk(root, "", &mut paths)
                    .map_err(|error| Failure::new(format!("cannot list the files: {error}")))?;
                paths
            }
        };
        // A deleted file is listed until the deletion is staged.
        let present = listed.into_iter().filter(|path| root.join(path).is_file());
        let mut files = Vec::new();
        for path in present {
            let bytes = fs::read(root.join(&path))
                .map_err(|error| Failure::new(format!("cannot read {path}: {error}")))?;
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
        Ok(Self::from_texts(files))
    }

    pub(crate) fn from_texts(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files = files.into_iter().map(|(path, text)| {
            let is_rust = path.ends_with(".rs");
            let code = if is_rust {
                rust_text::code_only(&text)
            } else {
                String::new()
            };
            (path.clone(), SourceFile { path, text, code })
        });
        Self {
            files: files.collect(),
        }
    }

    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.get(path)
    }

    pub(crate) fn files(&self) -> impl ExactSizeIterator<Item = &SourceFile> {
        self.files.values()
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files().filter(|file| file.path.ends_with(".rs"))
    }

    /// Whether the path is a file or a folder with a file in it. The root is the empty path.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self
                .files
                .keys()
                .any(|file| file == path || file.starts_with(&inside))
    }

    /// The names of the folders under `crates/`.
    pub(crate) fn crates(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix("crates/")?.split_once('/'))
            .map(|(folder, _)| folder)
            .collect();
        folders.dedup();
        folders
    }
}

impl SourceFile {
    /// Whether a folder of this name is on the way to the file.
    pub(crate) fn is_under(&self, folder: &str) -> bool {
        self.folders().any(|part| part == folder)
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        let folders = self
            .path
            .rsplit_once('/')
            .map_or("", |(folders, _)| folders);
        folders.split('/').filter(|part| !part.is_empty())
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the whole file is test code: by its path, by its name, or because its crate is a
    /// test kit.
    pub(crate) fn is_test_code(&self) -> bool {
        self.is_under("tests") || self.name() == "tests.rs" || self.is_in_test_kit()
    }

    pub(crate) fn is_in_test_kit(&self) -> bool {
        self.path.starts_with("crates/store-testkit/")
    }
}

fn listed_by_git() -> Option<Vec<String>> {
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let output = Invocation::new("git", &list).output_quietly()?;
    let text = String::from_utf8(output).ok()?;
    Some(
        text.split('\0')
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// For a source archive, or a checkout that git refuses to read.
fn walk(root: &Path, below: &str, paths: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && ![".git", ".everstep", "target", "node_modules"].contains(&&*name) {
            walk(root, &path, paths)?;
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}
