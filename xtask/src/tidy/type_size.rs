//! Rule: a type has at most 40 methods and 15 fields. A larger type does the work of several, and
//! each of its methods can reach everything that the others own. If a type must be larger, a
//! comment `// Large type: REASON` above it says why.
//!
//! The rule relies on the layout of `cargo fmt`. Methods of traits do not count: the trait limits
//! them.

use std::collections::BTreeMap;

use super::repository::{Repository, SourceFile};
use super::runner::Problem;
use super::rust_text::leading_word;

const METHODS_MAX: usize = 40;
const FIELDS_MAX: usize = 15;
const REASON: &str = "// Large type: ";

/// A type's definition and its size.
struct Definition<'a> {
    file: &'a SourceFile,
    line: usize,
    fields: usize,
    has_reason: bool,
}

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in repository.crates() {
        let source = format!("crates/{name}/src/");
        let files = repository.rust_files();
        let files = files.filter(|file| file.path.starts_with(&source) && !file.is_test_code());
        let files: Vec<&SourceFile> = files.collect();
        let mut methods: BTreeMap<&str, usize> = BTreeMap::new();
        for file in &files {
            count_methods(&file.code, &mut methods);
        }
        for (name, definition) in files.iter().flat_map(|file| definitions(file)) {
            let methods = methods.get(name).copied().unwrap_or_default();
            problems.extend(definition.problem(name, methods));
        }
    }
    problems
}

impl Definition<'_> {
    fn problem(&self, name: &str, methods: usize) -> Option<Problem> {
        let is_large = methods > METHODS_MAX || self.fields > FIELDS_MAX;
        let message = match (is_large, self.has_reason) {
            (true, false) => format!(
                "`{name}` has {methods} methods and {} fields; the limits are {METHODS_MAX} and \
                 {FIELDS_MAX}: split it, or write `{REASON}…` above it",
                self.fields
            ),
            (false, true) => format!("`{name}` is within the limits: remove `{REASON}…`"),
            (true, true) | (false, false) => return None,
        };
        Some(Problem::at(&self.file.path, self.line, message))
    }
}

/// The structs and enums of a file, by name.
fn definitions(file: &SourceFile) -> Vec<(&str, Definition<'_>)> {
    let lines: Vec<&str> = file.code.lines().collect();
    let texts: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = defined_name(line) else {
            continue;
        };
        let body = lines.iter().skip(index + 1);
        let body = body.take_while(|line| line.starts_with(' ') || line.is_empty());
        let is_struct = without_visibility(line).starts_with("struct ");
        let fields = body.filter(|line| is_struct && is_field(line)).count();
        let above = texts.get(..index).unwrap_or_default().iter().rev();
        let mut above = above.take_while(|line| line.starts_with(['/', '#', ' ', ')']));
        let definition = Definition {
            file,
            line: index + 1,
            fields: if line.ends_with('{') { fields } else { 0 },
            has_reason: above.any(|line| line.starts_with(REASON)),
        };
        found.push((name, definition));
    }
    found
}

fn defined_name(line: &str) -> Option<&str> {
    let rest = without_visibility(line);
    let rest = rest.strip_prefix("struct ");
    let name = leading_word(rest.or_else(|| without_visibility(line).strip_prefix("enum "))?);
    (!name.is_empty()).then_some(name)
}

fn is_field(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    ").map(without_visibility) else {
        return false;
    };
    let name = leading_word(rest);
    !name.is_empty() && rest[name.len()..].starts_with(':')
}

/// Adds the methods of each `impl Type` block at the top level of a file.
fn count_methods<'a>(code: &'a str, counts: &mut BTreeMap<&'a str, usize>) {
    let mut current: Option<&str> = None;
    for line in code.lines() {
        if line.starts_with("impl") {
            current = implemented_type(line);
        } else if line.starts_with('}') {
            current = None;
        } else if let Some(name) = current
            && is_method(line)
        {
            *counts.entry(name).or_default() += 1;
        }
    }
}

/// The type of an `impl` block that is not of a trait.
fn implemented_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => after_generics(generics)?,
        None => rest,
    };
    if rest.contains(" for ") {
        return None;
    }
    let path = rest.trim_start();
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    let path = path.get(..end.unwrap_or(path.len()))?;
    path.rsplit("::").next()
}

fn after_generics(rest: &str) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest.get(at + 1..);
        }
    }
    None
}

fn is_method(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    ").map(without_visibility) else {
        return false;
    };
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    rest.starts_with("fn ")
}

fn without_visibility(line: &str) -> &str {
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => match rest.split_once(") ") {
            Some((_, rest)) => rest,
            None => line,
        },
        Some(rest) => rest.strip_prefix(' ').unwrap_or(line),
        None => line,
    }
}
