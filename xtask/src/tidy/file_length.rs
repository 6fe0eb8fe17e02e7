//! Rule: no source file past 500 lines without a reason in the table, none past 700 at all. The
//! limit makes authors split a growing file. Tests are exempt: a long list of cases is easy to
//! read.

use super::allowance::{self, Allowance};
use super::repository::{Repository, SourceFile};
use super::runner::Problem;

const SOURCES: &[&str] = &[".rs", ".ts", ".tsx", ".py", ".go"];
const LINES_MAX: usize = 500;
const LINES_MAX_WITH_REASON: usize = 700;

/// Files that may reach the hard limit.
const LONG_FILES: &[Allowance] = &[];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(repository, LONG_FILES)
}

pub(crate) fn check_with(repository: &Repository, table: &[Allowance]) -> Vec<Problem> {
    let is_long = |file: &SourceFile| is_limited(file) && file.text.lines().count() > LINES_MAX;
    let mut problems = allowance::problems_of_table(table, repository, |path| {
        repository.file(path).is_some_and(is_long)
    });
    for file in repository.files().filter(|file| is_long(file)) {
        let lines = file.text.lines().count();
        let message = if lines > LINES_MAX_WITH_REASON {
            format!("has {lines} lines; {LINES_MAX_WITH_REASON} is the hard limit: split it")
        } else if allowance::covers(table, &file.path) {
            continue;
        } else {
            format!("has {lines} lines; past {LINES_MAX} split it, or give a reason in LONG_FILES")
        };
        problems.push(Problem::of(&file.path, message));
    }
    problems
}

fn is_limited(file: &SourceFile) -> bool {
    let is_test = file.is_under("tests") || file.name() == "tests.rs";
    !is_test && SOURCES.iter().any(|ending| file.path.ends_with(ending))
}
