//! Reads sections, keys and values from a `Cargo.toml`, one line at a time. It is not a TOML
//! parser; it reads what the manifests of this repository contain.

/// One `key = value` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    /// The header above the line, without brackets: `dependencies`, `[example]`.
    pub(crate) section: &'a str,
    /// Which header that is, counted from the top: arrays of tables repeat their name.
    pub(crate) section_number: usize,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
    pub(crate) line: usize,
}

pub(crate) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let (mut section, mut section_number) = ("", 0);
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.rsplit_once(']'));
        if let Some((name, _)) =
            header.filter(|_| !line.contains('=') || line.starts_with("[target"))
        {
            section = name;
            section_number += 1;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            let (key, value) = (key.trim(), value.trim());
            entries.push(Entry {
                section,
                section_number,
                key,
                value,
                line: number,
            });
        }
    }
    entries
}

/// The `name` under `[package]`.
pub(crate) fn package_name(text: &str) -> Option<&str> {
    let entries = entries(text);
    entries
        .iter()
        .find(|entry| entry.section == "package" && entry.key == "name")
        .and_then(|entry| unquoted(entry.value))
}

/// `"text"` without its quotes, whatever follows.
pub(crate) fn unquoted(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_their_section_and_line() {
        let text = "[package]\nname = \"everstep\" # the facade\n\n[[example]]\nname = \"a\"\n\
                    # name = \"no\"\n[[example]]\nname = \"b\"\n[target.'cfg(a = \"b\")'.dependencies]\n\
                    everstep-model.workspace = true\n";
        let seen: Vec<_> = entries(text)
            .into_iter()
            .map(|e| (e.section, e.section_number, e.key, e.line))
            .collect();
        let expected = [
            ("package", 1, "name", 2),
            ("[example]", 2, "name", 5),
            ("[example]", 3, "name", 8),
            (
                "target.'cfg(a = \"b\")'.dependencies",
                4,
                "everstep-model.workspace",
                10,
            ),
        ];
        assert_eq!(seen, expected);
        assert_eq!(package_name(text), Some("everstep"));
    }
}
