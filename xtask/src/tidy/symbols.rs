//! Rule: a path such as `Loops::scan` in a document for contributors consists of names that the
//! code contains. The changelog and decision records may name what was removed.

use std::collections::BTreeSet;

use super::markdown::code_spans;
use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::is_word;

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let words: BTreeSet<&str> = repository
        .rust_files()
        .flat_map(|file| file.code.split(|c| !is_word(c)))
        .collect();
    let pages = repository.files().filter(|file| is_checked(&file.path));
    let mut problems = Vec::new();
    for page in pages {
        for path in code_spans(&page.text).filter(|span| is_path(span)) {
            if let Some(unknown) = path.split("::").find(|name| !words.contains(name)) {
                let message = format!("names `{path}`, but no code contains `{unknown}`");
                problems.push(Problem::of(&page.path, message));
            }
        }
    }
    problems
}

/// Whether a file is one of the pages at the root or directly in `docs`.
fn is_checked(path: &str) -> bool {
    let name = path.strip_prefix("docs/").unwrap_or(path);
    name.ends_with(".md") && !name.contains('/') && name != "CHANGELOG.md"
}

fn is_path(span: &str) -> bool {
    span.contains("::") && span.chars().all(|c| is_word(c) || c == ':')
}
