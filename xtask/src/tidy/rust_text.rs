//! Reads Rust as far as the rules need it: separates code from comments and literals, finds
//! attributes and test code. Byte offsets are the same in the text and in the code.

use std::ops::Range;

/// The text with every comment, string and character literal blanked, at equal length and with
/// equal lines, so that a rule does not match comments.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_word = false;
    while let Some(first) = rest.chars().next() {
        let opaque = opaque_length(rest, after_word);
        let (taken, left) = rest
            .split_at_checked(opaque.unwrap_or(first.len_utf8()))
            .unwrap_or((rest, ""));
        if opaque.is_some() {
            blank_into(&mut code, taken);
        } else {
            code.push_str(taken);
        }
        after_word = opaque.is_none() && is_word(first);
        rest = left;
    }
    code
}

/// Appends spaces in place of `hidden`, keeping its length and its lines.
pub(crate) fn blank_into(code: &mut String, hidden: &str) {
    for c in hidden.chars() {
        if c == '\n' {
            code.push('\n');
        } else {
            code.extend(std::iter::repeat_n(' ', c.len_utf8()));
        }
    }
}

/// The line an offset is on, counted from 1.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|&byte| byte == b'\n')
        .count()
        + 1
}

/// Returns the offsets at which `needle` is a whole word, path or macro call.
pub(crate) fn positions<'a>(code: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(needle)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let before = code.get(..at).and_then(|before| before.chars().next_back());
            let after = code
                .get(at + needle.len()..)
                .and_then(|after| after.chars().next());
            let goes_on = needle.ends_with(is_word) && after.is_some_and(is_word);
            !before.is_some_and(is_word) && !goes_on
        })
}

/// The comments that have a line of their own, without their slashes.
pub(crate) fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter_map(|(line, text)| {
        let comment = text.trim_start().strip_prefix("//")?;
        Some((line, comment.trim_start_matches(['/', '!']).trim()))
    })
}

/// The identifier that `text` starts with, if it does.
pub(crate) fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// One `#[…]` or `#![…]`.
#[derive(Debug)]
pub(crate) struct Attribute<'a> {
    pub(crate) span: Range<usize>,
    /// The text between the brackets.
    pub(crate) inner: &'a str,
}

impl Attribute<'_> {
    /// The last part of its path: `test` for `#[tokio::test(start_paused = true)]`.
    pub(crate) fn name(&self) -> &str {
        let path = self
            .inner
            .split(['(', '=', '['])
            .next()
            .unwrap_or("")
            .trim();
        path.rsplit("::").next().unwrap_or(path)
    }

    /// Whether it is this attribute, directly or inside `cfg_attr`.
    pub(crate) fn applies(&self, name: &str) -> bool {
        self.name() == name
            || (self.name() == "cfg_attr" && positions(self.inner, name).next().is_some())
    }

    fn marks_test_code(&self) -> bool {
        let is_cfg_test = self.name() == "cfg"
            && positions(self.inner, "test").next().is_some()
            && positions(self.inner, "not").next().is_none();
        is_cfg_test || self.name() == "test"
    }
}

pub(crate) fn attributes(code: &str) -> Vec<Attribute<'_>> {
    let mut found = Vec::new();
    for (start, opening) in code.match_indices("#[").chain(code.match_indices("#![")) {
        let inside = start + opening.len();
        let Some(length) = code.get(inside..).and_then(|rest| closing(rest, '[', ']')) else {
            continue;
        };
        let Some(inner) = code.get(inside..inside + length) else {
            continue;
        };
        found.push(Attribute {
            span: start..inside + length + 1,
            inner,
        });
    }
    found.sort_by_key(|attribute| attribute.span.start);
    found
}

/// Returns the ranges of a file that only tests compile: `#[cfg(test)]` items and test functions.
pub(crate) fn test_spans(code: &str) -> Vec<Range<usize>> {
    let marks = attributes(code)
        .into_iter()
        .filter(Attribute::marks_test_code);
    marks
        .filter_map(|mark| Some(mark.span.start..item_end(code, mark.span.end)?))
        .collect()
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the item that starts at `from` ends: at its semicolon or its closing brace.
fn item_end(code: &str, from: usize) -> Option<usize> {
    let rest = code.get(from..)?;
    let stop = rest.find(['{', ';'])?;
    if rest.get(stop..)?.starts_with(';') {
        return Some(from + stop + 1);
    }
    let inside = from + stop + 1;
    Some(inside + closing(code.get(inside..)?, '{', '}')? + 1)
}

/// Where the bracket that was opened just before `text` closes.
pub(crate) fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth: usize = 1;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// How long the comment or literal is that `rest` starts with; `None` if it starts with code.
fn opaque_length(rest: &str, after_word: bool) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment_length(rest));
    }
    if rest.starts_with('"') {
        return Some(quoted_length(rest, '"'));
    }
    if let Some(inside) = rest.strip_prefix('\'') {
        // 'a' and '\n' are literals, 'a is a lifetime.
        let mut next = inside.chars();
        let is_literal = next.next() == Some('\\') || next.next() == Some('\'');
        return is_literal.then(|| quoted_length(rest, '\''));
    }
    if after_word {
        None
    } else {
        raw_string_length(rest)
    }
}

fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `r"…"`, `br##"…"##` and their like.
fn raw_string_length(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix))?;
    let opening = rest.get(prefix.len()..)?;
    let inside = opening.trim_start_matches('#');
    let hashes = opening.len() - inside.len();
    let inside = inside.strip_prefix('"')?;
    let ending = format!("\"{}", "#".repeat(hashes));
    let length = inside
        .find(&ending)
        .map_or(inside.len(), |at| at + ending.len());
    Some(rest.len() - inside.len() + length)
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let mut depth: usize = 0;
    let mut at = 0;
    while let Some(left) = rest.get(at..).filter(|left| !left.is_empty()) {
        if left.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if left.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += left.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}
