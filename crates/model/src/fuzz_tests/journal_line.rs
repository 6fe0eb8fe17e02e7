//! Journals as JSON, one record per line.

use crate::{InvalidJournalLine, entry_from_json, entry_to_json};

#[test]
fn what_decodes_is_written_as_one_line_that_decodes_equal() {
    super::check_text("journal_line", |line| {
        let entry = match entry_from_json(line) {
            Ok(entry) => entry,
            Err(InvalidJournalLine::Envelope(_) | InvalidJournalLine::NoNumber) => {
                return "no envelope".to_owned();
            }
            Err(InvalidJournalLine::UnknownType(_)) => return "unknown type".to_owned(),
            Err(InvalidJournalLine::Fields { kind, error }) => return format!("{kind} {error}"),
        };
        let written = entry_to_json(&entry).expect("what was read can be written");
        assert!(!written.contains(['\n', '\r']), "one line: {written:?}");
        let again = entry_from_json(&written).expect("what was written");
        assert_eq!(entry_to_json(&again).expect("again"), written);
        assert_eq!(again.number, entry.number);
        assert_eq!(again.record.body.tag(), entry.record.body.tag());
        format!("a record of kind {}", entry.record.body.tag())
    });
}
