//! Invariants 16 and 22 across generations: a revived run has every event that it accepted and no
//! wait took, and does not forget that it passed its point of no return.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{Created, ForkReason};
use everstep_model::{Body, Entry, RecordNumber};

use crate::observed::{Journals, Stream, Violation};

pub(super) fn check(journals: &Journals) -> Vec<Violation> {
    let mut found = Vec::new();
    for after in journals.streams() {
        let Some(from) = after
            .creation()
            .and_then(|created| created.forked_from.as_ref())
        else {
            continue;
        };
        // A deleted run may have had the same id.
        let original = |stream: &&Stream| {
            stream.number < after.number && stream.generation() == Some(from.generation)
        };
        let before = journals.generations(from.run.as_str()).filter(original);
        if let Some(before) = before.last() {
            found.extend(compare(before, after));
        }
    }
    found
}

fn compare(before: &Stream, after: &Stream) -> Vec<Violation> {
    let mut found = Vec::new();
    let Some(created) = after.creation().filter(|created| continues(created)) else {
        return found;
    };
    let kept = count(&after.entries, |entry| entry.number.0 < after.copied as u64);
    let taken = taken(&before.entries);
    for (event, times) in count(&before.entries, |entry| !taken.contains(&entry.number)) {
        if kept.get(event).copied().unwrap_or_default() < times {
            let what = format!(
                "event {event} of generation {:?} is lost",
                before.generation()
            );
            found.push(after.violation(16, what));
        }
    }
    let is_recovery = created
        .forked_from
        .as_ref()
        .is_some_and(|from| from.reason != ForkReason::Restart);
    let passed = |entry: &Entry| entry.record.body.passes_no_return();
    if is_recovery && !created.no_return && before.entries.iter().any(passed) {
        found.push(after.violation(22, "it forgot that it passed the point of no return"));
    }
    found
}

/// Whether a generation continues the one before, and does not begin anew.
fn continues(created: &Created) -> bool {
    created
        .forked_from
        .as_ref()
        .is_some_and(|from| match from.reason {
            ForkReason::Recover | ForkReason::RetryRollback => true,
            ForkReason::Restart => from.at.is_some(),
            ForkReason::Fork => false,
        })
}

fn taken(entries: &[Entry]) -> BTreeSet<RecordNumber> {
    let waits = entries.iter().filter_map(|entry| match &entry.record.body {
        Body::WaitCompleted(wait) => Some(&wait.events),
        _ => None,
    });
    waits.flatten().copied().collect()
}

/// Counts events by their payloads, which clients use once.
fn count(entries: &[Entry], is_counted: impl Fn(&Entry) -> bool) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for entry in entries.iter().filter(|entry| is_counted(entry)) {
        if let Body::Event(event) = &entry.record.body {
            *counts.entry(event.payload.as_str()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use everstep_model::record::ForkedFrom;
    use everstep_model::{Generation, Record, RunId};
    use everstep_store_testkit::sample::{created, event, wait_completed};

    use super::*;
    use crate::observed::samples::{FINE, broken, record, stream};

    fn next(no_return: bool, more: Vec<Record>) -> Stream {
        let Body::Created(first) = created().body else {
            unreachable!("it is the first record");
        };
        let first = Created {
            forked_from: Some(ForkedFrom {
                run: RunId::new("a").unwrap(),
                generation: Generation::FIRST,
                reason: ForkReason::Recover,
                keys_of: None,
                at: None,
                edited: None,
            }),
            no_return,
            ..*first
        };
        let mut next = stream("a", more);
        next.entries[0].record = record(first);
        next.copied = next.entries.len();
        next
    }

    #[test]
    fn an_event_that_a_recovery_loses_is_found() {
        let before = stream("a", vec![event("e")]);
        let taken = stream("a", vec![event("e"), wait_completed(&[1])]);
        let found = |before: &Stream, kept| broken(&compare(before, &next(false, kept)));
        assert_eq!(found(&before, vec![event("e")]), FINE);
        assert_eq!(found(&before, vec![]), [16]);
        assert_eq!(found(&taken, vec![]), FINE);
    }

    #[test]
    fn a_recovery_that_forgets_the_point_of_no_return_is_found() {
        let passed = everstep_model::record::NoReturn {
            location: everstep_store_testkit::sample::location("n:0"),
        };
        let before = stream("a", vec![record(passed)]);
        assert_eq!(broken(&compare(&before, &next(true, vec![]))), FINE);
        assert_eq!(broken(&compare(&before, &next(false, vec![]))), [22]);
    }
}
