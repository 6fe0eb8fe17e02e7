//! Invariants 1 to 5, 14, 24 and 26: what a commit may append. This finds a store that ignores a
//! guard, an engine that decides based on absence without a guard, and a lost fence.

use everstep_model::{Body, Origin, RecordNumber};
use everstep_store::{Commit, Executor, Guard, LeaseChange};

use super::stream::Stream;
use super::violation::Violation;

pub(super) fn check(stream: &Stream, commit: &Commit, first: RecordNumber) -> Vec<Violation> {
    let mut found = Vec::new();
    if first != stream.next() && !commit.only_deletes() {
        // Acknowledged records have disappeared, or records were skipped.
        let invariant = if first < stream.next() { 4 } else { 1 };
        let next = stream.next().0;
        found.push(stream.violation(invariant, format!("record {} follows {next}", first.0)));
    }
    if stream.closed_at.is_some() && !commit.only_deletes() {
        let end = stream.end().map(Body::type_name).unwrap_or_default();
        let invariant = if end == "terminated" { 24 } else { 26 };
        found.push(stream.violation(
            invariant,
            format!("a record was appended after it was {end}"),
        ));
    }
    if stream.is_removed && !commit.only_deletes() {
        found.push(stream.violation(31, "a record was appended after it was removed"));
    }
    match commit.executor() {
        Some(&Executor { fence, seq, .. }) => {
            if stream.fence != Some(fence) {
                found.push(stream.violation(
                    3,
                    format!("{fence:?} appended, {:?} is in force", stream.fence),
                ));
            }
            if seq.0 != stream.seq + 1 {
                found.push(
                    stream.violation(2, format!("sequence {} follows {}", seq.0, stream.seq)),
                );
            }
            for violation in decided_from_absence(stream, commit) {
                found.push(stream.violation(2, violation));
            }
        }
        None => {
            let is_own = |body: &Body| body.origin() == Origin::Executor;
            let is_created = matches!(commit, Commit::Create(_));
            if !is_created && commit.records().iter().any(|record| is_own(&record.body)) {
                found.push(
                    stream.violation(2, "a record of an executor was appended without a fence"),
                );
            }
        }
    }
    if let Some(id) = commit.dedup()
        && stream.dedup.contains(id)
    {
        found.push(stream.violation(14, format!("dedup id {id} counted twice")));
    }
    for what in dropped_unnamed(commit) {
        found.push(stream.violation(1, what));
    }
    found
}

/// Invariant 2: a commit that suspends or ends a run has seen the whole inbox, unless the journal
/// already determines the end.
fn decided_from_absence(stream: &Stream, commit: &Commit) -> Vec<String> {
    let mut found = Vec::new();
    let guard = commit.guards().iter().find_map(|guard| match guard {
        Guard::InboxSeen(count) => Some(*count),
        _ => None,
    });
    if let Some(seen) = guard
        && seen != stream.inbox
    {
        found.push(format!("it saw {seen} inbox records of {}", stream.inbox));
    }
    let suspends = commit.ready() == Some(false) && !commit.closes();
    let ends = commit.closes()
        && commit.lease() == LeaseChange::Release
        && !commit
            .records()
            .last()
            .is_some_and(|record| ends_anyway(stream, &record.body));
    if guard.is_none() && (suspends || ends) {
        found.push("it suspends or ends the run without having read the inbox".to_owned());
    }
    found
}

/// Whether the journal determines this end, whatever else is in the inbox.
fn ends_anyway(stream: &Stream, end: &Body) -> bool {
    let is_certain = |body: &Body| match body {
        Body::ForcedFailure(forced) => forced.location.is_none(),
        Body::CancelRequested(_)
        | Body::DeadlinePassed(_)
        | Body::UndoStarted(_)
        | Body::UndoSkipped(_)
        | Body::UndoCompleted(_) => true,
        _ => false,
    };
    !matches!(end, Body::Completed(_)) && stream.entries.iter().any(|e| is_certain(&e.record.body))
}

/// Invariant 1: records are missing only where a loop has dropped them.
fn dropped_unnamed(commit: &Commit) -> Vec<String> {
    let named: Vec<_> = commit
        .records()
        .iter()
        .filter_map(|record| match &record.body {
            Body::LoopAdvanced(advanced) => Some(&advanced.dropped),
            _ => None,
        })
        .flatten()
        .collect();
    let unnamed = commit
        .dropped()
        .iter()
        .filter(|range| !named.contains(range));
    unnamed
        .map(|range| {
            format!(
                "{}..={} are not reported as dropped",
                range.first.0, range.last.0
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use everstep_model::record::Completed;
    use everstep_model::{Payload, RecordRange};
    use everstep_store::ExecutorLease;
    use everstep_store_testkit::sample::{event, loop_advanced, range, step};

    use super::super::samples::{FINE, at, broken, creation, executor, fence, inbox_event, stream};
    use super::*;

    fn held() -> Stream {
        let mut stream = stream("a", vec![event("e")]);
        (stream.fence, stream.epoch, stream.inbox) = (Some(fence(2)), 2, 2);
        stream
    }

    fn found(stream: &Stream, commit: impl Into<Commit>, first: u64) -> Vec<u8> {
        broken(&check(stream, &commit.into(), RecordNumber(first)))
    }

    #[test]
    fn an_append_with_an_old_epoch_or_a_wrong_number_is_found() {
        assert_eq!(found(&held(), executor(2, 1, vec![step("s")]), 2), FINE);
        assert_eq!(found(&held(), executor(1, 1, vec![step("s")]), 2), [3]);
        assert_eq!(found(&held(), executor(2, 2, vec![step("s")]), 2), [2]);
        assert_eq!(found(&held(), executor(2, 1, vec![step("s")]), 3), [1]);
        assert_eq!(found(&held(), executor(2, 1, vec![step("s")]), 1), [4]);
        assert_eq!(
            found(&held(), super::super::samples::inbox(vec![step("s")]), 2),
            [2]
        );
    }

    #[test]
    fn a_suspension_that_has_not_seen_the_inbox_is_found() {
        let mut suspension = executor(2, 1, Vec::new());
        (suspension.ready, suspension.lease) = (Some(false), ExecutorLease::Release);
        assert_eq!(found(&held(), suspension.clone(), 2), [2]);
        suspension.guards.push(Guard::InboxSeen(1));
        assert_eq!(found(&held(), suspension.clone(), 2), [2]);
        suspension.guards = vec![Guard::InboxSeen(2)];
        assert_eq!(found(&held(), suspension.clone(), 2), FINE);
        let end = Completed {
            result: Payload::null(),
            abandoned: Vec::new(),
        };
        let mut end = executor(2, 1, vec![super::super::samples::record(end)]);
        (end.ready, end.lease, end.close) = (Some(false), ExecutorLease::Release, true);
        assert_eq!(found(&held(), end.clone(), 2), [2]);
    }

    #[test]
    fn records_after_the_end_and_repeated_dedup_ids_are_found() {
        let mut closed = held();
        closed.closed_at = Some(at(1));
        assert_eq!(found(&closed, inbox_event("e"), 2), [26]);
        let mut twice = inbox_event("e");
        twice.dedup = Some("d".to_owned());
        let mut seen = held();
        seen.dedup.insert("d".to_owned());
        assert_eq!(found(&seen, twice.clone(), 2), [14]);
        assert_eq!(found(&held(), creation("b"), 2), FINE);
    }

    #[test]
    fn records_dropped_without_a_report_are_found() {
        let gone: RecordRange = range(1, 1);
        let mut advance = executor(2, 1, vec![loop_advanced(&[gone])]);
        advance.drop.push(gone);
        assert_eq!(found(&held(), advance.clone(), 2), FINE);
        advance.records = vec![loop_advanced(&[])];
        assert_eq!(found(&held(), advance.clone(), 2), [1]);
    }
}
