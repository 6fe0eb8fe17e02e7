//! Rule: the numbered lists in `docs/` and the citations in the code agree. Every cited behaviour
//! (`B126` in a comment) and every cited invariant is on its page, and the code cites every line of
//! both pages.
//!
//! An invariant is cited by a comment such as `Invariants 8 to 11 and 13`, by `Violation::of(8,
//! ..)`, or by a planted bug that names it.

use std::collections::BTreeMap;

use super::repository::{Repository, SourceFile};
use super::runner::Problem;
use super::rust_text::{comments, is_word, line_at, positions};

/// Lists the planted bugs. Each description ends with the invariants that the bug breaks, such as
/// `(14, 17)`.
const PLANTED: &str = "crates/model/src/planted.rs";

/// A page with one numbered statement per line: `- **B12** ...`.
struct List {
    page: &'static str,
    /// What precedes the number.
    prefix: &'static str,
    citations: fn(&SourceFile) -> Vec<Citation>,
    /// Numbers that may be cited although the page does not list them, with the reason.
    unlisted: &'static [(u32, &'static str)],
}

struct Citation {
    number: u32,
    line: usize,
}

const LISTS: &[List] = &[
    List {
        page: "docs/behaviours.md",
        prefix: "B",
        citations: behaviours,
        unlisted: &[],
    },
    List {
        page: "docs/invariants.md",
        prefix: "",
        citations: invariants,
        unlisted: &[(
            0,
            "the simulation reports a panic or a failed harness as number 0",
        )],
    },
];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    LISTS
        .iter()
        .flat_map(|list| list.check(repository))
        .collect()
}

impl List {
    fn check(&self, repository: &Repository) -> Vec<Problem> {
        let (page, prefix) = (self.page, self.prefix);
        let mut problems = Vec::new();
        // The number, its line, and whether a citation was found.
        let mut listed: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
        let text = repository.file(page).map_or("", |file| &file.text);
        for (line, number) in self.lines(text) {
            if listed.insert(number, (line, false)).is_some() {
                let message = format!("`{prefix}{number}` is listed twice");
                problems.push(Problem::at(page, line, message));
            }
        }
        let mut needed = Vec::new();
        // The rules of tidy quote numbers as examples.
        let is_cited_here = |file: &&SourceFile| !file.path.starts_with("xtask/");
        for file in repository.rust_files().filter(is_cited_here) {
            for Citation { number, line } in (self.citations)(file) {
                if let Some((_, is_cited)) = listed.get_mut(&number) {
                    *is_cited = true;
                } else if self.unlisted.iter().any(|(row, _)| *row == number) {
                    needed.push(number);
                } else {
                    let message = format!("cites `{prefix}{number}`, which {page} does not list");
                    problems.push(Problem::at(&file.path, line, message));
                }
            }
        }
        for (number, (line, _)) in listed.iter().filter(|(_, (_, is_cited))| !is_cited) {
            let message = format!("the code does not cite `{prefix}{number}`");
            problems.push(Problem::at(page, *line, message));
        }
        if !text.is_empty() {
            let stale = |row: &&(u32, &str)| !needed.contains(&row.0);
            problems.extend(self.unlisted.iter().filter(stale).map(|(number, _)| {
                Problem::of(page, format!("remove the exception for `{number}` in tidy"))
            }));
        }
        problems
    }

    /// The lines of the page that state something, with their numbers.
    fn lines<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, u32)> + 'a {
        text.lines().enumerate().filter_map(|(index, line)| {
            let (number, _) = line
                .strip_prefix("- **")?
                .strip_prefix(self.prefix)?
                .split_once("** ")?;
            Some((index + 1, number.parse().ok()?))
        })
    }
}

/// Words such as `B126` in comments.
fn behaviours(file: &SourceFile) -> Vec<Citation> {
    let mut found = Vec::new();
    for (line, comment) in comments(&file.text) {
        let words = comment.split(|c| !is_word(c));
        let numbers = words.filter_map(|word| word.strip_prefix('B')?.parse().ok());
        found.extend(numbers.map(|number| Citation { number, line }));
    }
    found
}

fn invariants(file: &SourceFile) -> Vec<Citation> {
    let comments: Vec<(usize, &str)> = comments(&file.text).collect();
    let mut found = Vec::new();
    for (index, &(line, comment)) in comments.iter().enumerate() {
        // An enumeration may continue on the next line of the comment.
        let next = comments.get(index + 1).filter(|next| next.0 == line + 1);
        let text = format!("{comment} {}", next.map_or("", |next| next.1)).to_lowercase();
        let words = text.match_indices("invariant");
        for (at, word) in words.filter(|(at, _)| *at < comment.len()) {
            let after = text.get(at + word.len()..).unwrap_or("");
            let numbers = enumeration(after.strip_prefix('s').unwrap_or(after));
            found.extend(numbers.map(|number| Citation { number, line }));
        }
    }
    for at in positions(&file.code, "Violation::of(") {
        let argument = file.code.get(at..).and_then(|call| call.split_once('('));
        let argument = argument.map_or("", |(_, arguments)| arguments.trim_start());
        let line = line_at(&file.text, at);
        found.extend(leading_number(argument).map(|(number, _)| Citation { number, line }));
    }
    if file.path == PLANTED {
        for (line, text) in (1..).zip(file.text.lines()) {
            let numbers = text.rsplit_once('(').filter(|_| text.ends_with(").\";"));
            let numbers = enumeration(numbers.map_or("", |(_, numbers)| numbers));
            found.extend(numbers.map(|number| Citation { number, line }));
        }
    }
    found
}

/// The numbers at the beginning of the text: `1, 4 to 6 and 9` gives 1, 4, 5, 6 and 9.
fn enumeration(text: &str) -> impl Iterator<Item = u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut rest = text.trim_start();
    let mut is_range = false;
    while let Some((number, after)) = leading_number(rest) {
        let first = found
            .last()
            .filter(|_| is_range)
            .map_or(number, |last| last + 1);
        found.extend(first..=number);
        let after = after.trim_start();
        is_range = after.starts_with("to ");
        rest = ["to ", "and ", ", and ", ","]
            .iter()
            .find_map(|separator| after.strip_prefix(separator))
            .unwrap_or("")
            .trim_start();
    }
    found.into_iter()
}

/// The number that the text begins with, and what follows it.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, after) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, after))
}
