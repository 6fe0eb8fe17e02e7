//! Rule: every error code has a page in `docs/errors/`, and every page a code. The code is
//! what a user is sure to see, and the page explains it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::{attributes, closing, code_only, line_at, positions};

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
        let message = "tidy found no code (it looks for `Variant = \"snake_case\"` in `words!`)";
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

/// Returns the codes in the body of `words!`, such as `run_exists` in `RunExists = "run_exists"`,
/// and their lines. A value that is not a plain string is returned as it is written: it has no page
/// and is reported.
fn codes(text: &str) -> BTreeMap<&str, usize> {
    let code = code_only(text);
    let Some(body) = body_of_words(&code) else {
        return BTreeMap::new();
    };
    let attributes = attributes(&code);
    let is_in_attribute = |at| attributes.iter().any(|found| found.span.contains(&at));
    let declarations = code.match_indices('=').map(|(at, _)| at);
    let declarations = declarations.filter(|at| body.contains(at) && !is_in_attribute(*at));
    declarations
        .filter_map(|at| {
            // Commas and braces in literals and comments are blank in `code`.
            let length = code.get(at..)?.find([',', '}'])?;
            let value = text.get(at + 1..at + length)?.trim();
            Some((value.trim_matches('"'), line_at(text, at)))
        })
        .collect()
}

fn body_of_words(code: &str) -> Option<Range<usize>> {
    let call = positions(code, "words!").next()?;
    let start = call + code.get(call..)?.find('{')? + 1;
    Some(start..start + closing(code.get(start..)?, '{', '}')?)
}
