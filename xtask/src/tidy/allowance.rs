//! Exceptions to a rule, each with its file and reason. Each rule has its own table.

use super::repository::Repository;
use super::runner::Problem;

/// One file that may break a rule, or a folder of them if the path ends with `/`.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) path: &'static str,
    /// Why the rule does not apply there.
    pub(crate) reason: &'static str,
}

pub(crate) fn covers(table: &[Allowance], path: &str) -> bool {
    table.iter().any(|row| row.covers(path))
}

impl Allowance {
    /// The folder of the file. Repositories without it, as in the tests of tidy, do not need the
    /// row.
    fn folder(&self) -> &str {
        let path = self.path.trim_end_matches('/');
        path.rfind('/')
            .and_then(|end| path.get(..=end))
            .unwrap_or("")
    }

    fn covers(&self, path: &str) -> bool {
        self.path == path || (self.path.ends_with('/') && path.starts_with(self.path))
    }
}

/// Reports rows without a reason, and rows whose file no longer needs them.
pub(crate) fn problems_of_table(
    table: &[Allowance],
    repository: &Repository,
    is_needed: impl Fn(&str) -> bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for row in table {
        let Allowance { path, reason } = row;
        if reason.trim().is_empty() {
            problems.push(Problem::of(
                path,
                "has an exception in tidy without a reason",
            ));
        }
        let neighbours = repository
            .rust_files()
            .any(|file| file.path.starts_with(row.folder()));
        let mut covered = repository
            .rust_files()
            .filter(|file| row.covers(&file.path));
        if neighbours && !covered.any(|file| is_needed(&file.path)) {
            problems.push(Problem::of(
                path,
                "no longer needs its exception in tidy: remove the row",
            ));
        }
    }
    problems
}
