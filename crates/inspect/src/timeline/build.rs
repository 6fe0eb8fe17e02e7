//! Builds the lines of a timeline.

use everstep_model::{Actor, Entry, RecordNumber, Timestamp, match_record};

use super::describe::Describe;
use super::elapsed::Stopwatch;
use super::gaps::{Gap, Gaps};
use super::line::Line;
use super::sensitive::SensitiveSteps;

/// The kind of a line for records that compaction dropped. All other kinds are type names of
/// records.
const DROPPED: &str = "records_dropped";

/// Returns the timeline of a journal, or of a part of it: one line per record, in order.
#[must_use]
pub fn timeline(entries: &[Entry]) -> Vec<Line> {
    lines(entries, Before::Unknown, &mut Stopwatch::default())
}

/// What precedes the records of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// The records up to this one.
    Records(RecordNumber),
    Unknown,
}

/// Returns the lines of a page of a journal.
pub(super) fn lines(entries: &[Entry], before: Before, stopwatch: &mut Stopwatch) -> Vec<Line> {
    let mut sensitive = SensitiveSteps::of(entries);
    if let Before::Records(_) = before {
        sensitive.add_settled(entries);
    }
    let gaps = Gaps::of(entries);
    let mut lines = Vec::with_capacity(entries.len());
    let mut before = match before {
        Before::Records(number) => Some(number),
        Before::Nothing | Before::Unknown => None,
    };
    for entry in entries {
        if let Some(gap) = before.and_then(|before| gaps.between(before, entry.number)) {
            lines.push(line_of_gap(&gap, entry.record.time));
        }
        lines.push(line_of_record(entry, &sensitive, stopwatch));
        before = Some(entry.number);
    }
    lines
}

fn line_of_record(entry: &Entry, sensitive: &SensitiveSteps, stopwatch: &mut Stopwatch) -> Line {
    let body = &entry.record.body;
    let elapsed = stopwatch.measure(entry);
    let described = match_record!(body, record => record.describe(elapsed));
    let is_redacted = described.payload.is_some() && sensitive.hides(body);
    Line {
        number: entry.number,
        time: entry.record.time,
        kind: body.type_name(),
        location: body.location().cloned(),
        actor: body.actor(),
        by: described.by.map(str::to_owned),
        // Text that users gave may contain line breaks.
        sentence: described.sentence.replace(char::is_control, " "),
        outcome: described.outcome,
        duration: elapsed.total,
        attempt: described.attempt,
        error: described.error.cloned(),
        payload: described.payload.filter(|_| !is_redacted).cloned(),
        redacted: is_redacted,
        dropped: None,
    }
}

/// Returns the line of a gap. It has the time of the record after the gap, because the times of
/// dropped records are not known.
fn line_of_gap(gap: &Gap, time: Timestamp) -> Line {
    Line {
        number: gap.range.first,
        time,
        kind: DROPPED,
        location: gap.owner.clone(),
        actor: Actor::Engine,
        by: None,
        sentence: gap.to_string(),
        outcome: None,
        duration: None,
        attempt: None,
        error: None,
        payload: None,
        redacted: false,
        dropped: Some(gap.range),
    }
}
