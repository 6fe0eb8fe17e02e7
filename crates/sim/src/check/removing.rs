//! Invariant 31: only ended runs are removed, by request or after their retention, and their
//! executors stay fenced.

use std::time::Duration;

use crate::observed::{Deletion, Journals, Ledger, Stream, Violation};

/// Checks that every removal was requested, or the run had ended long enough before.
pub(super) fn check(
    journals: &Journals,
    ledger: &Ledger,
    kept_for: Option<Duration>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for stream in journals.streams() {
        let (Some((_, removed)), Some((run, _))) = (stream.removed_at, &stream.run) else {
            continue;
        };
        if ledger
            .deletions
            .iter()
            .any(|deletion| may_delete(deletion, stream))
        {
            continue;
        }
        let ended = stream.ended_at.unwrap_or(removed);
        // By the clocks of the nodes involved: a clock that was set back may have shown a later
        // time before.
        let is_due = kept_for.is_some_and(|age| ended.until(removed) >= age);
        if !is_due && !is_removed_with_later_generation(journals, run.as_str(), stream) {
            let what = format!("it ended at {ended} and was removed at {removed}");
            found.push(stream.violation(31, what));
        }
    }
    found
}

/// Whether a request may have deleted this run. A request that was answered before the run was
/// created has not.
fn may_delete(deletion: &Deletion, stream: &Stream) -> bool {
    let is_its = stream
        .run
        .as_ref()
        .is_some_and(|(run, _)| run.as_str() == deletion.run);
    let removed = stream.removed_at.map(|(by_store, _)| by_store);
    is_its
        && removed.is_some_and(|removed| deletion.requested_at <= removed)
        && deletion
            .answered_at
            .is_none_or(|answered| stream.created_at <= answered)
}

/// Whether the run is removed together with a later generation, by the age of the last one, which
/// is checked itself.
fn is_removed_with_later_generation(journals: &Journals, run: &str, stream: &Stream) -> bool {
    let is_later = |other: &Stream| other.generation() > stream.generation();
    let mut generations = journals.generations(run);
    generations.any(|other| is_later(other) && other.removed_at == stream.removed_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::samples::{FINE, at, broken, stream};

    #[test]
    fn a_run_that_is_removed_too_early_is_found() {
        let mut ended = stream("a", Vec::new());
        (ended.closed_at, ended.ended_at) = (Some(at(1)), Some(at(1)));
        ended.removed_at = Some((at(1_500), at(1_500)));
        let journals = Journals::of([ended]);
        let found = |kept_ms| {
            let kept_for = Some(Duration::from_millis(kept_ms));
            broken(&check(&journals, &Ledger::default(), kept_for))
        };
        assert_eq!(found(1_000), FINE);
        assert_eq!(found(2_000), [31]);
    }

    #[test]
    fn a_request_deletes_no_run_that_was_created_after_its_answer() {
        let mut ended = stream("a", Vec::new());
        ended.created_at = at(100);
        (ended.closed_at, ended.ended_at) = (Some(at(150)), Some(at(150)));
        ended.removed_at = Some((at(200), at(200)));
        let journals = Journals::of([ended]);
        let found = |run: &str, requested_at, answered_at: Option<u64>| {
            let ledger = Ledger {
                deletions: vec![Deletion {
                    run: run.to_owned(),
                    requested_at: at(requested_at),
                    answered_at: answered_at.map(at),
                }],
                ..Ledger::default()
            };
            broken(&check(&journals, &ledger, None))
        };
        assert_eq!(found("a", 160, Some(210)), FINE);
        assert_eq!(found("a", 50, None), FINE, "it may still be in progress");
        assert_eq!(found("a", 50, Some(90)), [31]);
        assert_eq!(found("a", 250, Some(260)), [31]);
        assert_eq!(found("b", 160, Some(210)), [31]);
    }
}
