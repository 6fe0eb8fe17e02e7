//! Invariants 19, 20 and 21: a timer fires once, never early by the clock of the node that fires
//! it, and timers of one run that are due together fire in order.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::record::TimerPurpose;
use everstep_model::{Body, StreamNumber, Timestamp};
use everstep_store::{Commit, Outcome, TimerRow};

use super::stream::Stream;
use super::violation::Violation;

/// Returns the timer that a record reports as fired.
fn fired(body: &Body, stream: StreamNumber) -> Option<TimerRow> {
    match body {
        Body::TimerFired(fired) => Some(TimerRow {
            due: fired.due,
            stream,
            purpose: fired.purpose,
            location: fired.location.clone(),
        }),
        Body::DeadlinePassed(passed) => Some(TimerRow {
            due: passed.deadline,
            stream,
            purpose: TimerPurpose::Deadline,
            location: None,
        }),
        _ => None,
    }
}

pub(super) fn check(stream: &Stream, commit: &Commit) -> Vec<Violation> {
    let mut found = Vec::new();
    if matches!(commit, Commit::Create(_)) {
        // The copied timers fired in the original run.
        return found;
    }
    for record in commit.records() {
        let Some(timer) = fired(&record.body, stream.number) else {
            continue;
        };
        if record.time < timer.due || commit.now() < timer.due {
            let early = format!("{}: {timer:?} fired at {}", stream.label(), record.time);
            found.push(Violation::of(19, early));
        }
        if !stream.timers.contains_key(&timer) {
            let what = format!("{}: {timer:?} fired and was not set", stream.label());
            found.push(Violation::of(20, what));
        }
    }
    found
}

/// Invariant 19 by the clock of the sender: a batch fires no timer that is due after the time that
/// the clock would have shown when the batch was sent if it had never been set back. The time
/// inside the commit proves nothing.
pub(crate) fn check_clock(
    batch: &[Commit],
    outcomes: &[Outcome],
    shown: Timestamp,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let landed = landed(batch, outcomes);
    for (stream, record) in landed.flat_map(|(stream, commit)| {
        let records = commit.records().iter();
        records.map(move |record| (stream, record))
    }) {
        let early = fired(&record.body, stream).filter(|timer| timer.due > shown);
        if let Some(timer) = early {
            let what = format!("{timer:?} fired when the clock had shown {shown}");
            found.push(Violation::of(19, what));
        }
    }
    found
}

/// Returns the commits of a batch that took effect in an existing stream.
fn landed<'a>(
    batch: &'a [Commit],
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = (StreamNumber, &'a Commit)> {
    let is_done = |outcome: &Outcome| matches!(outcome, Outcome::Committed { .. });
    let each = batch.iter().zip(outcomes);
    each.filter_map(move |(commit, outcome)| match commit.stream() {
        Some(stream) if is_done(outcome) => Some((stream, commit)),
        _ => None,
    })
}

/// The time after which every node has read a timer. Hints can be lost, so a node may find a timer
/// only when it reads timers again, and it may have been paused meanwhile.
const KNOWN_AFTER: Duration = Duration::from_secs(120);

/// In one batch, the timers of a run fire in the order in which they are due, as far as the node
/// must have read them: a timer that is set while a later one fires comes after it. `set_at`
/// returns when a timer was set.
pub(super) fn check_batch(
    at: Timestamp,
    batch: &[Commit],
    outcomes: &[Outcome],
    set_at: impl Fn(&TimerRow) -> Option<Timestamp>,
) -> Vec<Violation> {
    let mut last: BTreeMap<StreamNumber, Timestamp> = BTreeMap::new();
    let mut found = Vec::new();
    for (stream, commit) in landed(batch, outcomes) {
        for timer in commit
            .records()
            .iter()
            .filter_map(|record| fired(&record.body, stream))
        {
            let before = last.insert(stream, timer.due);
            let is_known = set_at(&timer).is_some_and(|set| set.until(at) >= KNOWN_AFTER);
            if is_known && before.is_some_and(|before| before > timer.due) {
                let what = format!("stream {stream}: {timer:?} fired after a later one");
                found.push(Violation::of(21, what));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use everstep_model::record::TimerFired;

    use super::super::samples::{FINE, at, broken, committed, inbox, number, record, stream};
    use super::*;

    fn firing(due: u64, now: u64) -> Commit {
        let mut fired = record(TimerFired {
            purpose: TimerPurpose::Sleep,
            location: None,
            due: at(due),
        });
        fired.time = at(now);
        let mut commit = inbox(vec![fired]);
        commit.now = at(now);
        commit.into()
    }

    #[test]
    fn a_timer_that_fires_early_twice_or_out_of_order_is_found() {
        let mut stream = stream("a", Vec::new());
        let timer = TimerRow {
            due: at(5),
            stream: number(1),
            purpose: TimerPurpose::Sleep,
            location: None,
        };
        stream.timers.insert(timer, at(0));
        assert_eq!(broken(&check(&stream, &firing(5, 5))), FINE);
        assert_eq!(broken(&check(&stream, &firing(5, 4))), [19]);
        assert_eq!(broken(&check(&stream, &firing(6, 6))), [20]);
        let fired = |shown| broken(&check_clock(&[firing(5, 5)], &[committed(1, 1)], at(shown)));
        assert_eq!(fired(5), FINE);
        assert_eq!(fired(4), [19]);
        let landed = [committed(1, 1), committed(1, 2)];
        let found = |dues: [u64; 2], at_secs: u64| {
            let batch = dues.map(|due| firing(due, 9));
            let now = at(at_secs * 1_000);
            broken(&check_batch(now, &batch, &landed, |_| Some(at(0))))
        };
        assert_eq!(found([5, 6], 500), FINE);
        assert_eq!(found([6, 5], 500), [21]);
        assert_eq!(found([6, 5], 100), FINE, "it was set recently");
    }
}
