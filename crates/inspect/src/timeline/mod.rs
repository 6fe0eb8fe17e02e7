//! The journal as an audit trail: who did what, when, how long it took, and how it came out.
//!
//! One line per record, and one for every gap that compaction left. A line says what its record says and judges
//! nothing: of two records that compete both have a line, and what they mean together is the overview's to tell. It is
//! total, like every fold here. What a sensitive step returned is never in a line.

mod account;
mod gaps;
mod lasting;
mod line;
mod secrets;
mod sentence;
mod spans;
#[cfg(test)]
mod tests;

use everstep_model::{Actor, Entry, Timestamp};

use gaps::{Gap, Gaps};
pub use line::{Line, Outcome, to_json_lines};
use secrets::Secrets;
use spans::Spans;

/// The kind of the line that stands where compaction dropped records. All other kinds are type names of records.
const DROPPED: &str = "records_dropped";

/// What a journal, or a part of it, tells, one line per record in its order.
#[must_use]
pub fn timeline(entries: &[Entry]) -> Vec<Line> {
    let secrets = Secrets::of(entries);
    let gaps = Gaps::of(entries);
    let mut spans = Spans::default();
    let mut lines = Vec::with_capacity(entries.len());
    let mut before = None;
    for entry in entries {
        if let Some(gap) = before.and_then(|before| gaps.between(before, entry.number)) {
            lines.push(line_of_gap(&gap, entry.record.time));
        }
        lines.push(line_of_record(entry, &secrets, &mut spans));
        before = Some(entry.number);
    }
    lines
}

fn line_of_record(entry: &Entry, secrets: &Secrets, spans: &mut Spans) -> Line {
    let body = &entry.record.body;
    let lasted = spans.lasted(entry);
    let account = account::of(body);
    let is_secret = account.payload.is_some() && secrets.hide(body);
    Line {
        number: entry.number,
        time: entry.record.time,
        kind: body.type_name(),
        location: body.location().cloned(),
        actor: body.actor(),
        by: account.by.map(str::to_owned),
        sentence: sentence::of(&entry.record, lasted),
        outcome: account.outcome,
        duration: lasted.whole,
        attempt: account.attempt,
        error: account.error.cloned(),
        payload: account.payload.filter(|_| !is_secret).cloned(),
        redacted: is_secret,
        dropped: None,
    }
}

/// The record after the gap lends its time: when the dropped ones were written is not known any more.
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
