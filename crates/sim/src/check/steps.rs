//! Invariants 8 to 11 as far as journals and the ledger tell: one result for each step, attempts that count upwards, one key for
//! all attempts. What must hold the moment a step begins or its result is seen is checked there (`workload::Env`).

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::FailureOutcome;
use everstep_model::{Body, Location};

use super::Violation;
use super::journals::Stream;
use crate::workload::Ledger;

pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut say = |invariant, what: String| {
        found.push(Violation::of(
            invariant,
            format!("{}: {what}", stream.told()),
        ));
    };
    let mut done: BTreeSet<&Location> = BTreeSet::new();
    let mut failed: BTreeMap<&Location, (u32, u32)> = BTreeMap::new();
    let mut limits: BTreeMap<&Location, u32> = BTreeMap::new();
    for entry in &stream.entries {
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = &started.options {
                    limits.insert(&started.location, options.retry.limit);
                }
            }
            Body::StepCompleted(step) if !done.insert(&step.location) => {
                say(9, format!("{} has two results", step.location));
            }
            Body::UndoCompleted(undone) => drop(done.remove(&undone.location)),
            Body::ExecutionRetried(_) => failed.clear(),
            // A step whose run is cancelled while it waits for its next attempt ends with the last one.
            Body::StepFailed(step) if step.outcome != FailureOutcome::Cancelled => {
                let (last, count) = failed.entry(&step.location).or_default();
                if step.attempt <= *last {
                    say(
                        10,
                        format!("{}: attempt {} follows {last}", step.location, step.attempt),
                    );
                }
                (*last, *count) = (step.attempt, *count + 1);
                let limit = limits.get(&step.location).copied().unwrap_or(u32::MAX);
                if *count > limit.saturating_add(1) {
                    say(
                        10,
                        format!(
                            "{} failed {count} times, {limit} retries allowed",
                            step.location
                        ),
                    );
                }
            }
            _ => {}
        }
    }
    found
}

/// Invariant 10: every attempt of a step carries the same key, and no other step does.
pub(super) fn check_ledger(ledger: &Ledger) -> Vec<Violation> {
    let mut keys = BTreeMap::new();
    let mut found = Vec::new();
    for attempt in &ledger.attempts {
        if attempt.stream.is_none() {
            continue;
        }
        let place = (attempt.stream, &attempt.run, &attempt.place);
        let known: &mut &String = keys.entry(place).or_insert(&attempt.key);
        if *known != &attempt.key {
            let what = format!("{place:?} was begun with two keys");
            found.push(Violation::of(10, what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{StepFailed, StepStarted};
    use everstep_model::{ErrorCode, Failure, StepOptions};
    use everstep_store_testkit::sample::{location, step};

    use super::super::support::{FINE, at, broken, record, stream};
    use super::*;
    use crate::workload::Attempt;

    fn failed(attempt: u32) -> everstep_model::Record {
        record(StepFailed {
            location: location("s:0"),
            attempt,
            started_at: at(0),
            error: Failure::new(ErrorCode::RunFailed, "no"),
            outcome: FailureOutcome::Retrying,
            retry_at: None,
            undo: None,
            retries_left: None,
        })
    }

    #[test]
    fn two_results_and_attempts_that_repeat_are_found() {
        assert_eq!(
            broken(&check(&stream("a", vec![step("s"), step("t")]))),
            FINE
        );
        assert_eq!(
            broken(&check(&stream("a", vec![step("s"), step("s")]))),
            [9]
        );
        assert_eq!(
            broken(&check(&stream("a", vec![failed(1), failed(2)]))),
            FINE
        );
        assert_eq!(
            broken(&check(&stream("a", vec![failed(2), failed(2)]))),
            [10]
        );
        let mut options = StepOptions::default();
        options.retry.limit = 0;
        let started = record(StepStarted {
            location: location("s:0"),
            attempt: 1,
            options: Some(options),
        });
        assert_eq!(
            broken(&check(&stream("a", vec![started, failed(1), failed(2)]))),
            [10]
        );
    }

    #[test]
    fn two_keys_for_one_step_are_found() {
        let attempt = |key: &str| Attempt {
            run: "a".to_owned(),
            generation: 1,
            stream: Some(everstep_model::StreamNumber(1)),
            place: "r.0".to_owned(),
            key: key.to_owned(),
        };
        let found = |keys: [&str; 2]| {
            let ledger = Ledger {
                attempts: keys.map(attempt).to_vec(),
                ..Ledger::default()
            };
            broken(&check_ledger(&ledger))
        };
        assert_eq!(found(["k", "k"]), FINE);
        assert_eq!(found(["k", "l"]), [10]);
    }
}
