//! Exceptions to a rule: which file, and why. Tables of them stand beside their rules.

use super::repository::Repository;
use super::runner::Problem;

/// One file that may break a rule.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) path: &'static str,
    /// Why the rule does more harm than good there.
    pub(crate) reason: &'static str,
}

pub(crate) fn covers(table: &[Allowance], path: &str) -> bool {
    table.iter().any(|row| row.path == path)
}

/// Rows without a reason, and rows whose file is gone or keeps the rule by now.
pub(crate) fn problems_of_table(
    table: &[Allowance],
    repository: &Repository,
    is_needed: impl Fn(&str) -> bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for Allowance { path, reason } in table {
        if reason.trim().is_empty() {
            problems.push(Problem::of(
                path,
                "has an exception in tidy without a reason",
            ));
        }
        if repository.file(path).is_none() || !is_needed(path) {
            problems.push(Problem::of(
                path,
                "no longer needs its exception in tidy: remove the row",
            ));
        }
    }
    problems
}
