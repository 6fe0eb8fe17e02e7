//! Rule: the code map of ARCHITECTURE.md names every crate and every top-level module of it, and
//! each file that it names exists. Readers cannot trust a map that is incomplete or out of date.

use std::collections::{BTreeMap, BTreeSet};

use super::markdown::{code_spans, heading};
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
    let parts = parts(&map);
    let unnamed = repository.crates().into_iter().flat_map(|folder| {
        let part = parts.get(folder).map(String::as_str);
        unnamed(repository, folder, part)
    });
    let missing = parts
        .iter()
        .flat_map(|(folder, part)| missing(repository, folder, part));
    let messages = unnamed.chain(missing);
    messages.map(|message| Problem::of(MAP, message)).collect()
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

/// The text about each crate: from a line that begins with `` `crates/NAME` ``, as a list item or
/// not, to the next such line or heading. The rest of the map has the key "".
fn parts(map: &str) -> BTreeMap<&str, String> {
    let mut parts: BTreeMap<&str, String> = BTreeMap::new();
    let mut folder = "";
    for line in map.lines() {
        let start = line.strip_prefix("- ").unwrap_or(line);
        if let Some((name, _)) = start
            .strip_prefix("`crates/")
            .and_then(|rest| rest.split_once('`'))
        {
            folder = name;
        } else if heading(line).is_some() {
            folder = "";
        }
        let part = parts.entry(folder).or_default();
        part.push_str(line);
        part.push('\n');
    }
    parts
}

/// The crate, if it has no part, or its top-level modules that its part does not name.
fn unnamed(repository: &Repository, folder: &str, part: Option<&str>) -> Vec<String> {
    let Some(part) = part else {
        return vec![format!("the code map does not name `crates/{folder}`")];
    };
    let named: BTreeSet<&str> = code_spans(part)
        .flat_map(|span| span.split('/'))
        .map(|name| name.trim_end_matches(".rs"))
        .collect();
    let sources = format!("crates/{folder}/src/");
    let modules: BTreeSet<&str> = repository
        .rust_files()
        .filter_map(|file| file.path.strip_prefix(&sources)?.split('/').next())
        .map(|name| name.trim_end_matches(".rs"))
        .filter(|name| !matches!(*name, "lib" | "main" | "tests") && !name.ends_with("_tests"))
        .collect();
    let message = |name| format!("the code map does not name the module `{name}` of {folder}");
    modules.difference(&named).map(message).collect()
}

/// The files and folders that a part names and that do not exist, in its crate or elsewhere.
fn missing(repository: &Repository, folder: &str, part: &str) -> Vec<String> {
    let own = format!("crates/{folder}");
    let exists = |span: &&str| {
        let name = span.trim_end_matches('/');
        let is_inside = |file: &str| {
            let parts = file.strip_prefix(&own).unwrap_or("");
            format!("{parts}/").contains(&format!("/{name}/"))
        };
        repository.contains(name)
            || repository.contains(&format!("crates/{name}"))
            || repository.files().any(|file| is_inside(&file.path))
    };
    code_spans(part)
        .filter(|span| !span.starts_with('/') && (span.ends_with(".rs") || span.ends_with('/')))
        .filter(|span| !exists(span))
        .map(|span| format!("the code map names `{span}`, which does not exist in `{own}`"))
        .collect()
}
