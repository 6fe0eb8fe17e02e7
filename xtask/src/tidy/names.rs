//! Rule: no vague names of files, folders and modules. `util` says where code was put, not what it
//! does, and attracts unrelated code; `_v2` gives two things one name.

use super::repository::Repository;
use super::runner::Problem;
use super::rust_text::{leading_word, line_at, positions};

const SOURCES: &[&str] = &["rs", "ts", "tsx", "py", "go"];
const VAGUE: &[&str] = &[
    "util", "utils", "common", "helper", "helpers", "manager", "managers", "misc",
];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.files() {
        let Some((stem, ending)) = file.name().rsplit_once('.') else {
            continue;
        };
        if !SOURCES.contains(&ending) {
            continue;
        }
        for part in file.folders().chain([stem]) {
            if let Some(why) = objection(part) {
                problems.push(Problem::of(&file.path, format!("`{part}` {why}")));
            }
        }
        // A module with a file is caught by the file's name; this finds the ones within a file.
        for at in positions(&file.code, "mod") {
            let declared = file
                .code
                .get(at..)
                .and_then(|rest| rest.strip_prefix("mod "));
            let name = leading_word(declared.unwrap_or("").trim_start());
            if let Some(why) = objection(name) {
                let line = line_at(&file.text, at);
                problems.push(Problem::at(
                    &file.path,
                    line,
                    format!("module `{name}` {why}"),
                ));
            }
        }
    }
    problems
}

fn objection(name: &str) -> Option<&'static str> {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or(name);
    if VAGUE.contains(&last) {
        return Some("says nothing about what is inside: name it by its job");
    }
    let version = last
        .strip_prefix('v')
        .filter(|_| last != name)
        .unwrap_or("");
    let is_later_version = version.parse::<u32>().is_ok_and(|number| number > 1);
    is_later_version.then_some("is a version twin: name it by what it means, remove the other")
}
