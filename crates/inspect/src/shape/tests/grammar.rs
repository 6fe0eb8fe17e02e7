//! A parser for the part of Mermaid that charts use, for tests. It also checks rules beyond the
//! grammar.

use std::collections::BTreeMap;

const OUTLINES: [(&str, &str); 10] = [
    ("([", "])"),
    ("[[", "]]"),
    ("[/", "/]"),
    ("[/", "\\]"),
    ("{{", "}}"),
    ("{", "}"),
    ("(", ")"),
    (">", "]"),
    ("[", "]"),
    ("subgraph", "]"),
];

/// The declarations of a chart.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The label of each id.
    pub(crate) labels: BTreeMap<String, String>,
    /// The subgraphs around each id, outermost first.
    above: BTreeMap<String, Vec<String>>,
    open: Vec<(String, usize)>,
    /// From, to, and whether it is dashed.
    pub(crate) arrows: Vec<(String, String, bool)>,
    /// The ids of each class.
    pub(crate) classes: BTreeMap<String, Vec<String>>,
}

/// Parses a chart.
pub(crate) fn parse(text: &str) -> Result<Parsed, String> {
    let mut lines = text.lines();
    if lines.next() != Some("flowchart TD") {
        return Err("it does not begin as a flowchart".to_owned());
    }
    let mut parsed = Parsed::default();
    for line in lines {
        parsed
            .line(line.trim_start())
            .map_err(|error| format!("{error}: {line}"))?;
    }
    parsed.check()?;
    Ok(parsed)
}

impl Parsed {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line == "end" {
            return match self.open.pop() {
                Some((_, 0)) => Err("an empty subgraph".to_owned()),
                Some(_) => Ok(()),
                None => Err("an end without a beginning".to_owned()),
            };
        }
        if let Some(rest) = line.strip_prefix("classDef ") {
            let (class, _) = rest.split_once(' ').ok_or("a class without a look")?;
            return self.class(class, &[]);
        }
        if let Some(rest) = line.strip_prefix("class ") {
            let (ids, class) = rest.split_once(' ').ok_or("a class without a name")?;
            return self.class(class, &ids.split(',').collect::<Vec<_>>());
        }
        if let Some(rest) = line.strip_prefix("subgraph ") {
            let id = self.declare(rest, "[", "]")?;
            self.open.push((id, 0));
            return Ok(());
        }
        if let Some((from, to)) = line.split_once(" -.-> ") {
            return self.arrow(from, to, true);
        }
        if let Some((from, to)) = line.split_once(" --> ") {
            return self.arrow(from, to, false);
        }
        if let Some((from, rest)) = line.split_once(" -->|\"") {
            let (label, to) = rest.split_once("\"| ").ok_or("an arrow without an end")?;
            read(label)?;
            return self.arrow(from, to, false);
        }
        let outline = OUTLINES.iter().find(|(open, close)| {
            let id = line.find(|c: char| !c.is_ascii_alphanumeric());
            let rest = id.and_then(|end| line.get(end..)).unwrap_or_default();
            rest.starts_with(&format!("{open}\"")) && rest.ends_with(&format!("\"{close}"))
        });
        let (open, close) = outline.ok_or("no line of a chart")?;
        self.declare(line, open, close).map(|_| ())
    }

    fn declare(&mut self, text: &str, open: &str, close: &str) -> Result<String, String> {
        let (id, rest) = text.split_once(open).ok_or("no label")?;
        let label = rest
            .strip_suffix(close)
            .and_then(|rest| rest.strip_prefix('"')?.strip_suffix('"'));
        let label = read(label.ok_or("a label without quotes")?)?;
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err("a bad id".to_owned());
        }
        if let Some((_, inside)) = self.open.last_mut() {
            *inside += 1;
        }
        let above = self.open.iter().map(|(id, _)| id.clone()).collect();
        self.above.insert(id.to_owned(), above);
        match self.labels.insert(id.to_owned(), label) {
            None => Ok(id.to_owned()),
            Some(_) => Err("an id twice".to_owned()),
        }
    }

    fn arrow(&mut self, from: &str, to: &str, dashed: bool) -> Result<(), String> {
        if !self.open.is_empty() {
            return Err("an arrow in a subgraph".to_owned());
        }
        self.arrows.push((from.to_owned(), to.to_owned(), dashed));
        Ok(())
    }

    fn class(&mut self, class: &str, ids: &[&str]) -> Result<(), String> {
        let members = self.classes.entry(class.to_owned()).or_default();
        members.extend(ids.iter().map(|id| (*id).to_owned()));
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if !self.open.is_empty() {
            return Err("a subgraph without an end".to_owned());
        }
        let ends = self.arrows.iter().flat_map(|(from, to, _)| [from, to]);
        let mut named = ends.chain(self.classes.values().flatten());
        if let Some(id) = named.find(|id| !self.labels.contains_key(*id)) {
            return Err(format!("{id} is not declared"));
        }
        let is_inside = |inner: &String, outer: &String| self.above[inner].contains(outer);
        let cyclic = |(from, to, _): &&(String, String, bool)| {
            from == to || is_inside(from, to) || is_inside(to, from)
        };
        match self.arrows.iter().find(cyclic) {
            Some((from, to, _)) => Err(format!("{from} and {to} stand in each other")),
            None => Ok(()),
        }
    }
}

/// Returns the text of a label as Mermaid draws it.
fn read(label: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = label;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '#' => {
                let (digits, after) = rest.split_once(';').ok_or("a bare #")?;
                let number: u32 = digits.parse().map_err(|_| "a # without a number")?;
                text.push(char::from_u32(number).ok_or("no character")?);
                rest = after;
            }
            c if c.is_alphanumeric() || " -_.:,()×".contains(c) => text.push(c),
            _ => return Err("a label with a sign that means something".to_owned()),
        }
    }
    match text.is_empty() {
        true => Err("an empty label".to_owned()),
        false => Ok(text),
    }
}
