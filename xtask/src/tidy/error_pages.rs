//! Rule: every error code has a page in `docs/errors/`, and every page a code. The code is
//! what a user is sure to see, and the page explains it.

use std::collections::BTreeMap;

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::{function_body, line_at};

const CODES: &str = "crates/model/src/error_code.rs";
const PAGES: &str = "docs/errors/";
/// The page about all codes.
const INDEX: &str = "README.md";

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    // The repositories in tests may lack this file.
    let Some(file) = repository.file(CODES) else {
        return Vec::new();
    };
    let codes = codes(&file.text, &file.code);
    if codes.is_empty() {
        let message = "tidy found no code in `fn as_str` (it looks for `=> \"snake_case\"`)";
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

/// The codes and the lines they stand on.
fn codes<'a>(text: &'a str, code: &str) -> BTreeMap<&'a str, usize> {
    let Some(body) = function_body(code, "as_str") else {
        return BTreeMap::new();
    };
    // Searches the code without comments and literals, so that an arrow in a comment is not found.
    let arrows = code
        .match_indices("=>")
        .map(|(at, _)| at)
        .filter(|at| body.contains(at));
    arrows
        .filter_map(|at| {
            let literal = text
                .get(at + 2..)?
                .trim_start()
                .strip_prefix('"')?
                .split('"')
                .next()?;
            let is_code = literal
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            (is_code && !literal.is_empty()).then(|| (literal, line_at(text, at)))
        })
        .collect()
}
