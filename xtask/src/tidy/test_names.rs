//! Rule: a test is named as a claim, without a `test_` prefix. `stale_epoch_is_refused` tells what
//! broke; `test_epoch` tells which file to open.

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::{attributes, leading_word, line_at, positions};

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.rust_files() {
        let code = file.code.as_str();
        let starts: Vec<usize> = if file.is_in_test_kit() {
            // The cases of the kit are plain functions that a macro turns into tests.
            positions(code, "fn").collect()
        } else {
            let marked = attributes(code)
                .into_iter()
                .filter(|attribute| attribute.name() == "test");
            marked
                .filter_map(|mark| next_function(code, mark.span.end))
                .collect()
        };
        for at in starts {
            let name = leading_word(code.get(at + 2..).unwrap_or("").trim_start());
            if let Some(claim) = name.strip_prefix("test_") {
                let message = format!("test `{name}` should be a claim, such as `{claim}_…`");
                problems.push(Problem::at(&file.path, line_at(&file.text, at), message));
            }
        }
    }
    problems
}

fn next_function(code: &str, from: usize) -> Option<usize> {
    let rest = code.get(from..)?;
    Some(from + positions(rest, "fn").next()?)
}
