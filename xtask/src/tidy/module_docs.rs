//! Rule: every source file opens with `//!` lines that state its purpose, for readers who arrive
//! from a search or a stack trace.

use super::repository::Repository;
use super::runner::Problem;

/// Folders whose files explain themselves by their names and contents.
const EXEMPT: &[&str] = &["tests", "examples", "benches"];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    repository
        .rust_files()
        .filter(|file| !EXEMPT.iter().any(|folder| file.is_under(folder)))
        .filter(|file| !file.text.starts_with("//!"))
        .map(|file| {
            Problem::at(
                &file.path,
                1,
                "must open with `//!` lines that state its responsibility",
            )
        })
        .collect()
}
