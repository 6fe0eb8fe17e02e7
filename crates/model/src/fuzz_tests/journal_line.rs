//! Journals as JSON, one record per line.

use crate::{InvalidJournalLine, entry_from_json, entry_to_json};

#[test]
fn decoded_lines_round_trip_as_one_line() {
    super::check_text("journal_line", |line| {
        let entry = match entry_from_json(line) {
            Ok(entry) => entry,
            Err(InvalidJournalLine::Envelope(_) | InvalidJournalLine::NoNumber) => {
                return "no envelope".to_owned();
            }
            Err(InvalidJournalLine::UnknownType(_)) => return "unknown type".to_owned(),
            Err(InvalidJournalLine::Fields { kind, error }) => return format!("{kind} {error}"),
        };
        let written = entry_to_json(&entry).expect("a decoded entry encodes");
        assert!(!written.contains(['\n', '\r']), "one line: {written:?}");
        let again = entry_from_json(&written).expect("an encoded entry decodes");
        assert_eq!(entry_to_json(&again).expect("it encodes again"), written);
        assert_eq!(again.number, entry.number);
        assert_eq!(again.record.body.tag(), entry.record.body.tag());
        format!("a record of kind {}", entry.record.body.tag())
    });
}
