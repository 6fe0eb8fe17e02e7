//! Rule: every error code has a page in `docs/errors/`, and every page a code. The code is
//! what a user is sure to see, and the page explains it.

use std::collections::BTreeMap;

use super::repository::Repository;
use super::runner::Problem;

const CODES: &str = "crates/model/src/error_code.rs";
const PAGES: &str = "docs/errors/";
/// The page about all codes.
const INDEX: &str = "README.md";

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    // The repositories in tests may lack this file.
    let Some(file) = repository.file(CODES) else {
        return Vec::new();
    };
    let codes = codes(&file.text);
    if codes.is_empty() {
        let message = "tidy found no code (it looks for lines `Variant = \"snake_case\",`)";
        return vec![Problem::of(CODES, message)];
    }
    let mut problems = Vec::new();
    for (code, line) in &codes {
        let page = format!("{PAGES}{code}.md");
        if repository.file(&page).is_none() {
            let message = format!("error code `{code}` has no page: write {page}");
            problems.push(Problem::at(CODES, *line, message));
        }
    }
    for page in repository.files() {
        let Some(name) = page.path.strip_prefix(PAGES).filter(|name| *name != INDEX) else {
            continue;
        };
        if !name
            .strip_suffix(".md")
            .is_some_and(|code| codes.contains_key(code))
        {
            let message = format!("belongs to no error code in {CODES}: remove it or add the code");
            problems.push(Problem::of(&page.path, message));
        }
    }
    problems
}

/// Returns the codes and their lines.
fn codes(text: &str) -> BTreeMap<&str, usize> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| Some((declared_code(line)?, number)))
        .collect()
}

/// Returns the code of a line such as `RunExists = "run_exists",`.
fn declared_code(line: &str) -> Option<&str> {
    let (variant, word) = line.trim().split_once(" = \"")?;
    let code = word.strip_suffix("\",")?;
    let is_code = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_declared = variant.chars().all(char::is_alphanumeric) && code.chars().all(is_code);
    (is_declared && !code.is_empty()).then_some(code)
}
