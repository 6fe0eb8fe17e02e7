//! Rule: no absolute path of a developer's machine in the repository.

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::line_at;

/// Written in pieces so that this file keeps its own rule.
const FOLDERS: &[&str] = &[
    concat!("/", "root", "/"),
    concat!("/", "work", "/"),
    concat!("/", "home", "/"),
    concat!("/", "Users", "/"),
];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.files() {
        for folder in FOLDERS {
            for (at, _) in file
                .text
                .match_indices(folder)
                .filter(|(at, _)| starts_at(&file.text, *at))
            {
                let message = format!("`{folder}…` is a path of one machine: make it relative");
                problems.push(Problem::at(&file.path, line_at(&file.text, at), message));
            }
        }
    }
    problems
}

/// Whether this is the beginning of an absolute path, not the middle of a longer path or URL.
fn starts_at(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    !before.is_some_and(|c| c.is_alphanumeric() || "_-.~}>)*".contains(c))
}
