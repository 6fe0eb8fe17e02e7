//! Reads Markdown as far as the rules need it: separates prose from code, finds links and the
//! anchors of headings.

use super::rust_text::blank_into;

/// A link target as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link<'a> {
    pub(crate) target: &'a str,
    pub(crate) line: usize,
}

/// The text with fenced blocks and code spans blanked, at equal length and with equal lines.
pub(crate) fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let marker = fence_marker(line);
        match (fence, marker) {
            (None, Some(opening)) => fence = Some(opening),
            (Some(open), Some(closing)) if closing.starts_with(open) => fence = None,
            (None, None) => {
                without_code_spans(line, &mut prose);
                continue;
            }
            (Some(_), _) => {}
        }
        blank_into(&mut prose, line);
    }
    prose
}

/// Every link in prose: inline, by reference definition, and in HTML attributes.
pub(crate) fn links(prose: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (text, line) in prose.lines().zip(1..) {
        let mut add = |target| links.push(Link { target, line });
        text.split("](")
            .skip(1)
            .filter_map(|rest| destination(rest, ')'))
            .for_each(&mut add);
        for attribute in ["href=\"", "src=\""] {
            let rests = text.split(attribute).skip(1);
            rests
                .filter_map(|rest| rest.split('"').next())
                .for_each(&mut add);
        }
        let definition = text
            .trim_start()
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]:"));
        if let Some((label, rest)) = definition
            && !label.starts_with('^')
            && !label.contains(']')
            && let Some(target) = destination(rest.trim_start(), ' ')
        {
            add(target);
        }
    }
    links
}

/// The anchors of a document: its headings the way GitHub spells them, and explicit `id`s.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let (mut anchors, mut slugs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match (fence, fence_marker(line)) {
            (None, Some(opening)) => fence = Some(opening),
            (Some(open), Some(closing)) if closing.starts_with(open) => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                if let Some(slug) = heading(line).map(slug) {
                    let earlier = slugs.iter().filter(|seen| **seen == slug).count();
                    // The second heading of a name becomes `name-1`.
                    let number = if earlier == 0 {
                        String::new()
                    } else {
                        format!("-{earlier}")
                    };
                    anchors.push(format!("{slug}{number}"));
                    slugs.push(slug);
                }
                let ids = line.split("id=\"").skip(1);
                anchors.extend(
                    ids.filter_map(|rest| rest.split('"').next())
                        .map(str::to_owned),
                );
            }
        }
    }
    anchors
}

/// The text of a heading line, without its marks.
pub(crate) fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

fn slug(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c })
        .collect::<String>()
        .to_lowercase()
}

/// The backticks or tildes that open or close a fenced block on this line.
fn fence_marker(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["`", "~"].into_iter().find_map(|mark| {
        let length = line.len() - line.trim_start_matches(mark).len();
        // ```like this``` on one line is a code span, not a fence.
        let is_fence = length >= 3 && !line.get(length..)?.contains('`');
        if is_fence { line.get(..length) } else { None }
    })
}

/// Appends the line with its code spans blanked; a run of backticks closes with a run as long.
fn without_code_spans(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, opening) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let inside = opening.trim_start_matches('`');
        let ticks = opening.len() - inside.len();
        out.push_str(before);
        let length = closing_ticks(inside, ticks).map_or(ticks, |at| ticks + at + ticks);
        let (span, left) = opening.split_at_checked(length).unwrap_or((opening, ""));
        blank_into(out, span);
        rest = left;
    }
    out.push_str(rest);
}

/// Where in `text` a run of exactly `ticks` backticks starts.
fn closing_ticks(text: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find('`') {
        let at = from + found;
        let run = text.get(at..)?;
        let length = run.len() - run.trim_start_matches('`').len();
        if length == ticks {
            return Some(at);
        }
        from = at + length;
    }
    None
}

/// The destination at the start of `rest`: in angle brackets, or up to `end` or a space.
fn destination(rest: &str, end: char) -> Option<&str> {
    let target = match rest.strip_prefix('<') {
        Some(inside) => inside.split('>').next(),
        None => rest.split([end, ' ']).next(),
    };
    target.filter(|target| !target.is_empty())
}

/// The code spans of a text, without their backticks.
pub(crate) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}
