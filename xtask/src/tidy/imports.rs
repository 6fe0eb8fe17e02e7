//! The paths that Rust code names inside its own crate: `use` declarations, with their braces
//! expanded, and paths in expressions and types. Only paths that begin with `crate`, `super` or
//! `self` are returned.

use super::rust_text::{is_word, test_spans};

/// Paths as lists of segments, without those that only tests use.
pub(crate) fn paths(code: &str) -> Vec<Vec<String>> {
    let code = without_tests(code);
    let starts = ["crate::", "super::", "self::"];
    let mut found = Vec::new();
    for (at, _) in starts.iter().flat_map(|start| code.match_indices(start)) {
        let before = code.get(..at).and_then(|before| before.chars().next_back());
        // `super::super::a` is found at its first segment.
        let is_inside = before.is_some_and(|c| is_word(c) || c == ':');
        if !is_inside && let Some(rest) = code.get(at..) {
            expand(&mut rest.chars().peekable(), &mut Vec::new(), &mut found);
        }
    }
    found
}

/// The names that a module file takes from its children: `pub use child::Name` as (child, name).
pub(crate) fn reexports(code: &str, children: &[String]) -> Vec<(String, String)> {
    let code = without_tests(code);
    let mut found = Vec::new();
    for (at, keyword) in code.match_indices("use ") {
        let Some(rest) = code.get(at + keyword.len()..) else {
            continue;
        };
        let mut paths = Vec::new();
        expand(&mut rest.chars().peekable(), &mut Vec::new(), &mut paths);
        for path in paths {
            let path: Vec<String> = path.into_iter().skip_while(|word| word == "self").collect();
            if let (Some(child), Some(name)) = (path.first(), path.last())
                && children.contains(child)
            {
                found.push((child.clone(), name.clone()));
            }
        }
    }
    found
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Reads one path, or one tree of a `use` declaration, and appends each of its leaves.
fn expand(text: &mut Characters<'_>, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let depth = prefix.len();
    loop {
        let word = word(text);
        if word.is_empty() {
            break;
        }
        prefix.push(word);
        if !separator(text) {
            found.push(prefix.clone());
            break;
        }
        if text.next_if_eq(&'{').is_some() {
            while text.peek().is_some_and(|&c| c != '}') {
                let before = found.len();
                expand(text, prefix, found);
                skip_to_next_branch(text);
                if found.len() == before && text.peek().is_none() {
                    break;
                }
            }
            text.next();
            break;
        }
        if matches!(text.peek(), Some('*' | '<')) {
            found.push(prefix.clone());
            break;
        }
    }
    prefix.truncate(depth);
}

fn word(text: &mut Characters<'_>) -> String {
    while text.next_if(|c| c.is_whitespace()).is_some() {}
    let mut word = String::new();
    while let Some(c) = text.next_if(|&c| is_word(c)) {
        word.push(c);
    }
    word
}

fn separator(text: &mut Characters<'_>) -> bool {
    let mut ahead = text.clone();
    let is_separator = ahead.next() == Some(':') && ahead.next() == Some(':');
    if is_separator {
        *text = ahead;
    }
    is_separator
}

/// Skips `as Name`, `*` and the comma behind a branch.
fn skip_to_next_branch(text: &mut Characters<'_>) {
    while text.next_if(|&c| c != ',' && c != '}').is_some() {}
    text.next_if_eq(&',');
    while text.next_if(|c| c.is_whitespace()).is_some() {}
}

fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut at = 0;
    for span in test_spans(code) {
        if span.start >= at {
            kept.push_str(code.get(at..span.start).unwrap_or(""));
            at = span.end;
        }
    }
    kept.push_str(code.get(at..).unwrap_or(""));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(code: &str) -> Vec<String> {
        paths(code).iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn braces_are_expanded_and_tests_are_left_out() {
        let code = "use crate::a::{self, B, c::{D, E as F}};\nfn f() { super::super::g::h() }\n\
                    #[cfg(test)]\nmod tests { use crate::z::Z; }\nuse std::fmt;\n";
        let expected = [
            "crate::a::self",
            "crate::a::B",
            "crate::a::c::D",
            "crate::a::c::E",
            "super::super::g::h",
        ];
        assert_eq!(joined(code), expected);
    }

    #[test]
    fn reexports_name_the_child_they_come_from() {
        let children = ["a".to_owned(), "b".to_owned()];
        let code =
            "mod a;\nmod b;\npub use a::A;\npub(crate) use self::b::{B, c::C};\nuse std::fmt;";
        let pairs = reexports(code, &children);
        let expected = [("a", "A"), ("b", "B"), ("b", "C")];
        let expected = expected.map(|(child, name)| (child.to_owned(), name.to_owned()));
        assert_eq!(pairs, expected);
    }
}
