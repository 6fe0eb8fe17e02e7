//! Rule: no disabled test, no test that passes on any panic, no unfinished code.

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::{attributes, line_at, positions};

const ATTRIBUTES: &[(&str, &str)] = &[
    ("ignore", "`#[ignore]` disables a test: fix it or remove it"),
    (
        "should_panic",
        "`#[should_panic]` passes on any panic: assert on the error instead",
    ),
];

const MACROS: &[(&str, &str)] = &[
    (
        "todo!",
        "`todo!` leaves work for later: finish it or return an error",
    ),
    (
        "unimplemented!",
        "`unimplemented!` leaves work for later: finish it or return an error",
    ),
];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.rust_files() {
        let mut add = |at: usize, message: &str| {
            problems.push(Problem::at(&file.path, line_at(&file.text, at), message));
        };
        for attribute in attributes(&file.code) {
            for (name, message) in ATTRIBUTES {
                if attribute.applies(name) {
                    add(attribute.span.start, message);
                }
            }
        }
        for (name, message) in MACROS {
            positions(&file.code, name).for_each(|at| add(at, message));
        }
    }
    problems
}
