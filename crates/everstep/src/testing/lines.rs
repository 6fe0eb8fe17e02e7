//! Journals as text, one record per line: how they are exported, kept as fixtures and replayed.

use everstep_model::{Entry, InvalidJournalLine, entry_from_json, entry_to_json};

/// Text that is no journal.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct InvalidJournalText {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    pub error: InvalidJournalLine,
}

/// A journal as text, one record per line.
///
/// # Errors
/// If a payload in it is not JSON, which no engine writes.
pub fn journal_to_lines(journal: &[Entry]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for entry in journal {
        text.push_str(&entry_to_json(entry)?);
        text.push('\n');
    }
    Ok(text)
}

/// Reads a journal back from text. Empty lines are skipped.
///
/// # Errors
/// If a line is no record, saying which.
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
