//! Properties that hold for any sequence of records, valid or not.

use super::*;

proptest! {
    // B182
    #[test]
    fn every_record_has_one_line_and_every_gap_another(journal in any_journal()) {
        let kept = compacted(&journal);
        let lines = timeline(&kept);
        let (gaps, shown): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.dropped.is_some());
        prop_assert_eq!(shown.len(), kept.len());
        for (line, entry) in shown.iter().zip(&kept) {
            prop_assert_eq!(line.number, entry.number);
            prop_assert_eq!(line.time, entry.record.time);
            prop_assert_eq!(line.kind, entry.record.body.type_name());
            prop_assert_eq!(line.location.as_ref(), entry.record.body.location());
        }
        // Together they cover the journal from its first record to its last.
        let gone: u64 = gaps.iter().filter_map(|gap| gap.dropped).map(|range| range.last.0 - range.first.0 + 1).sum();
        let covered = kept.first().zip(kept.last()).map_or(0, |(first, last)| last.number.0 - first.number.0 + 1);
        prop_assert_eq!(gone + kept.len() as u64, covered);
    }

    // B770
    #[test]
    fn pages_of_any_size_are_the_timeline(journal in any_journal(), size in 1_usize..9) {
        let kept = compacted(&journal);
        let first = kept.first().map_or(RecordNumber(0), |first| first.number);
        let mut reader = TimelineReader::at(first);
        let mut paged = Vec::new();
        for page in kept.chunks(size) {
            // The position survives as text.
            reader = TimelineReader::from_text(reader.to_text().as_bytes()).unwrap();
            prop_assert!(reader.next() <= page[0].number);
            paged.extend(reader.read(page));
        }
        let shown = |lines: &[Line]| lines.iter()
            .map(|line| (line.number, line.time, line.kind, line.duration, line.outcome, line.dropped))
            .collect::<Vec<_>>();
        prop_assert_eq!(shown(&paged), shown(&timeline(&kept)));
    }

    #[test]
    fn any_sequence_of_records_has_a_timeline(journal in any_journal(), numbers in any::<[u64; 4]>()) {
        // Numbers are never out of order, but every record must have its line if they are.
        let mut entries = journal.0;
        for (entry, number) in entries.iter_mut().rev().zip(numbers) {
            entry.number = RecordNumber(number);
        }
        let lines = timeline(&entries);
        prop_assert!(lines.len() >= entries.len());
        prop_assert_eq!(timeline(&entries), lines);
    }

    #[test]
    fn each_line_is_one_line_of_json_with_the_same_content(journal in any_journal()) {
        let lines = timeline(&journal.0);
        let text = to_json_lines(&lines);
        prop_assert_eq!(text.lines().count(), lines.len());
        for (json, line) in text.lines().zip(&lines) {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            prop_assert_eq!(value["number"].as_u64(), Some(line.number.0));
            prop_assert_eq!(value["kind"].as_str(), Some(line.kind));
            prop_assert_eq!(value["sentence"].as_str(), Some(line.sentence.as_str()));
        }
    }

    #[test]
    fn a_sensitive_result_never_appears(journal in any_open_journal(), before in any::<bool>()) {
        let result = "\"hunter2\"";
        let records: Vec<Body> = vec![
            completed_step("s:0", 1, result).into(),
            StepSkipped { so_far: None, location: at("s:0"), result: json(result), by: None }.into(),
            StepEdited { so_far: None, location: at("s:0"), result: json(result), by: None }.into(),
        ];
        let journal = if before {
            journal.with(secret("s:0")).with_all(records)
        } else {
            journal.with_all(records).with(secret("s:0"))
        };
        let lines = timeline(&journal.0);
        prop_assert_eq!(lines.iter().filter(|line| line.redacted && line.location == Some(at("s:0"))).count(), 3);
        prop_assert!(!to_json_lines(&lines).contains("hunter2"));
        let debugged = format!("{lines:?}");
        prop_assert!(!debugged.contains("hunter2"));
    }

    #[test]
    fn text_of_users_cannot_break_a_line(text in any::<String>()) {
        let note = Note { location: at("n:0"), text: text.clone() };
        let ended = Terminated { by: Some(text.clone()), reason: Some(text), ..terminated(&[]) };
        for line in lines([note.into(), ended.into()]) {
            prop_assert!(!line.to_string().contains(char::is_control));
        }
    }
}
