//! Rule: tests do not sleep. A sleep is either too short, and the test fails on a busy machine, or
//! too long, and slows down every run. Pass the time in, or wait for the event itself.

use super::allowance::{self, Allowance};
use super::repository::{Repository, SourceFile};
use super::runner::Problem;
use super::rust_text::{line_at, positions, test_spans};

/// Test files that may sleep.
const SLEEPERS: &[Allowance] = &[
    Allowance {
        path: "crates/behaviours/tests/behaviours/",
        reason: "every test there runs on the virtual clock of everstep::testing",
    },
    Allowance {
        path: "crates/behaviours/tests/random/",
        reason: "every test there runs on the virtual clock of everstep::testing",
    },
    Allowance {
        path: "crates/store-postgres/tests/postgres/idle.rs",
        reason: "it runs on the virtual clock of everstep::testing",
    },
    Allowance {
        path: "crates/behaviours/tests/kill9/child.rs",
        reason: "its work takes real time, so that its process can be killed in the middle of it",
    },
];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(repository, SLEEPERS)
}

pub(crate) fn check_with(repository: &Repository, table: &[Allowance]) -> Vec<Problem> {
    let mut problems = allowance::problems_of_table(table, repository, |path| {
        repository
            .file(path)
            .is_some_and(|file| !sleeps_in_tests(file).is_empty())
    });
    for file in repository.rust_files() {
        if allowance::covers(table, &file.path) {
            continue;
        }
        let message = "a test must not sleep: pass the time in, or wait for the thing itself";
        let lines = sleeps_in_tests(file)
            .into_iter()
            .map(|at| line_at(&file.text, at));
        problems.extend(lines.map(|line| Problem::at(&file.path, line, message)));
    }
    problems
}

fn sleeps_in_tests(file: &SourceFile) -> Vec<usize> {
    let spans = test_spans(&file.code);
    let is_test = |at: &usize| file.is_test_code() || spans.iter().any(|span| span.contains(at));
    sleeps(&file.code).into_iter().filter(is_test).collect()
}

/// Where `sleep` (or `sleep_until`, `sleep_ms`) is named by its path or imported from `thread` or
/// `time`.
fn sleeps(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for module in ["thread::", "time::"] {
        for at in positions(code, module) {
            let rest = code.get(at + module.len()..).unwrap_or("");
            let imported = rest
                .strip_prefix('{')
                .and_then(|list| list.split('}').next());
            let mut named = imported.unwrap_or(rest).split(',').map(str::trim_start);
            let is_sleep = match imported {
                Some(_) => named.any(|name| name.starts_with("sleep")),
                None => rest.starts_with("sleep"),
            };
            if is_sleep {
                found.push(at);
            }
        }
    }
    found.sort_unstable();
    found
}
