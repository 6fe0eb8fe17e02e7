//! Checks of journals that were read from a store after a test. It is not known which nodes wrote
//! them, and of the records that loops dropped only the last report is there.

use everstep_model::{
    Body, Entry, Generation, RecordNumber, RecordRange, RunId, StreamName, StreamNumber, Timestamp,
};

use super::{children, ending, events, steps, undoing};
use crate::observed::{Journals, Stream, Violation};

/// Runs all checks that need the journals only.
pub fn check_journals(streams: Vec<Stream>) -> Vec<Violation> {
    let mut found = Vec::new();
    for stream in &streams {
        for gap in stream.gaps() {
            let (first, last) = (gap.first.0, gap.last.0);
            found.push(stream.violation(1, format!("records {first} to {last} are missing")));
        }
        found.extend(steps::check(stream));
        found.extend(events::check(stream));
        found.extend(children::check(stream));
        found.extend(undoing::check(stream));
        found.extend(ending::check_end(stream));
    }
    found.extend(children::check_family(&Journals::of(streams)));
    found
}

impl Stream {
    /// Creates the stream of a journal that was read.
    #[must_use]
    pub fn read_back(
        number: StreamNumber,
        run: (RunId, Generation),
        entries: Vec<Entry>,
        closed_at: Option<Timestamp>,
    ) -> Self {
        let created_at = entries.first().map(|entry| entry.record.time);
        let name = StreamName::of_run(&run.0, run.1);
        Self {
            dropped: dropped_in(&entries),
            entries,
            copied: 1,
            closed_at,
            ended_at: closed_at,
            ..Self::empty(number, name, created_at.unwrap_or_default())
        }
    }

    /// Invariant 1: the first gap that no loop reports as dropped. The reports of earlier
    /// iterations were dropped with them, so the last report covers all; a replay shows whether too
    /// much is missing.
    #[must_use]
    pub fn gaps(&self) -> Vec<RecordRange> {
        let mut gaps = Vec::new();
        let mut expected = RecordNumber(0);
        for entry in &self.entries {
            if entry.number != expected {
                // A repeated record is as wrong as a missing one.
                gaps.push(RecordRange {
                    first: expected.min(entry.number),
                    last: RecordNumber(entry.number.0.saturating_sub(1)),
                });
            }
            expected = entry.number.plus(1);
        }
        let drops = |entry: &Entry| match &entry.record.body {
            Body::LoopAdvanced(advanced) => {
                !advanced.dropped.is_empty() || !advanced.gone.is_empty()
            }
            _ => false,
        };
        let last_drop = self.entries.iter().rfind(|entry| drops(entry));
        let last_drop = last_drop.map_or(RecordNumber(0), |entry| entry.number);
        gaps.retain(|gap| gap.last >= last_drop);
        gaps
    }
}

/// Returns the ranges that loops report as dropped.
fn dropped_in(entries: &[Entry]) -> Vec<RecordRange> {
    let reported = entries.iter().filter_map(|entry| match &entry.record.body {
        Body::LoopAdvanced(advanced) => Some(advanced.dropped.clone()),
        _ => None,
    });
    reported.flatten().collect()
}

#[cfg(test)]
mod tests {
    use everstep_store_testkit::sample::step;

    use super::*;
    use crate::observed::samples::{FINE, broken, stream};

    #[test]
    fn a_missing_or_repeated_record_is_found() {
        let complete = stream("a", vec![step("s"), step("t"), step("u")]);
        let with = |change: &dyn Fn(&mut Vec<Entry>)| {
            let mut entries = complete.entries.clone();
            change(&mut entries);
            let run = complete.run.clone().unwrap();
            broken(&check_journals(vec![Stream::read_back(
                complete.number,
                run,
                entries,
                None,
            )]))
        };
        assert_eq!(with(&|_| ()), FINE);
        assert_eq!(with(&|entries| drop(entries.remove(2))), [1]);
        let again = with(&|entries| entries[3].number = RecordNumber(2));
        assert_eq!(again, [1]);
    }
}
