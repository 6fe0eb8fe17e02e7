//! Journals as text with one record per line, as they are exported, stored as fixtures and
//! replayed.

use everstep_model::{Entry, InvalidJournalLine, entry_from_json, entry_to_json};

/// The error of text that is not a journal.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct InvalidJournalText {
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem.
    #[source]
    pub error: InvalidJournalLine,
}

/// A journal as text, one record per line.
///
/// # Errors
/// If a payload is not JSON. No engine writes such a payload.
pub fn journal_to_lines(journal: &[Entry]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for entry in journal {
        text.push_str(&entry_to_json(entry)?);
        text.push('\n');
    }
    Ok(text)
}

/// Parses a journal from text. Empty lines are skipped.
///
/// # Errors
/// If a line is not a record.
pub fn journal_from_lines(text: &str) -> Result<Vec<Entry>, InvalidJournalText> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let entries = lines.map(|(index, line)| {
        entry_from_json(line).map_err(|error| InvalidJournalText {
            line: index + 1,
            error,
        })
    });
    entries.collect()
}
