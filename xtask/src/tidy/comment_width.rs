//! Rule: comment lines have at most 100 columns, the width at which rustfmt breaks code.
//!
//! Lines that cannot be broken are exempt: tables, diagrams, links, code inside a fence, and
//! lines of one word.

use super::repository::Repository;
use super::runner::Problem;

const COLUMNS_MAX: usize = 100;

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.files().filter(|it| it.path.ends_with(".rs")) {
        let mut is_fenced = false;
        for (index, line) in file.text.lines().enumerate() {
            let Some(text) = comment(line) else {
                is_fenced = false;
                continue;
            };
            if text.starts_with("```") {
                is_fenced = !is_fenced;
            }
            let is_link = text.starts_with('[') && text.contains("]: ");
            let is_kept = is_fenced || is_link || text.starts_with(['|', ' ']);
            let can_be_broken = !is_kept && text.contains(' ');
            if can_be_broken && line.chars().count() > COLUMNS_MAX {
                let message = format!("the comment is wider than {COLUMNS_MAX} columns: wrap it");
                problems.push(Problem::at(&file.path, index + 1, message));
            }
        }
    }
    problems
}

/// Returns the text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let marks = ["//!", "///", "//"];
    let text = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}
