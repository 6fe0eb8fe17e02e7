//! Rule: the code map of ARCHITECTURE.md names every crate. Readers cannot trust an
//! incomplete map.

use super::markdown::heading;
use super::repository::Repository;
use super::runner::Problem;

const MAP: &str = "ARCHITECTURE.md";

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let Some(file) = repository.file(MAP) else {
        return Vec::new();
    };
    let Some(map) = section(&file.text, "code map") else {
        return vec![Problem::of(
            MAP,
            "has no section with `code map` in its heading",
        )];
    };
    let missing = repository
        .crates()
        .into_iter()
        .filter(|folder| !names(&map, folder));
    let message = |folder| format!("the code map does not name `crates/{folder}`");
    missing
        .map(|folder| Problem::of(MAP, message(folder)))
        .collect()
}

/// The lines below a heading that contains `title`, up to the next heading of its level or above.
fn section(text: &str, title: &str) -> Option<String> {
    let level = |line: &str| line.len() - line.trim_start_matches('#').len();
    let is_wanted = |line: &str| heading(line).is_some_and(|h| h.to_lowercase().contains(title));
    let mut lines = text.lines().skip_while(|line| !is_wanted(line));
    let top = level(lines.next()?);
    let body = lines.take_while(|line| heading(line).is_none() || level(line) > top);
    Some(body.collect::<Vec<_>>().join("\n"))
}

/// Whether the map speaks of the folder: `crates/store`, `` `store` `` or `store/`, but not `store-embedded`.
fn names(map: &str, folder: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    map.match_indices(folder).any(|(at, _)| {
        let before = map.get(..at).unwrap_or("");
        let after = map.get(at + folder.len()..).unwrap_or("");
        let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
        let is_path = before.ends_with("crates/") || after.starts_with('/');
        is_whole && (is_path || (before.ends_with('`') && after.starts_with('`')))
    })
}
