//! Invariants 8 to 11 in journals and ledger: one result for each step, attempts that count
//! upwards, one key for all attempts. `workload::Env` checks what must hold when a step starts or
//! its result is seen.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::record::{FailureOutcome, StepFailed};
use everstep_model::{Body, Location, StepOptions};

use crate::observed::{Ledger, Stream, Violation};

pub(super) fn check(stream: &Stream) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut done: BTreeSet<&Location> = BTreeSet::new();
    let mut failed: BTreeMap<&Location, (u32, u32)> = BTreeMap::new();
    let mut limits: BTreeMap<&Location, StepOptions> = BTreeMap::new();
    for entry in &stream.entries {
        match &entry.record.body {
            Body::StepStarted(started) => {
                if let Some(options) = &started.options {
                    limits.insert(&started.location, *options);
                }
            }
            Body::StepCompleted(step) if !done.insert(&step.location) => {
                found.push(stream.violation(9, format!("{} has two results", step.location)));
            }
            Body::UndoCompleted(undone) => drop(done.remove(&undone.location)),
            Body::ExecutionRetried(_) => failed.clear(),
            // If a run is cancelled while a step waits for its next attempt, the step ends with the
            // last attempt.
            Body::StepFailed(step) if step.outcome != FailureOutcome::Cancelled => {
                let (last, count) = failed.entry(&step.location).or_default();
                if step.attempt <= *last {
                    found.push(stream.violation(
                        10,
                        format!("{}: attempt {} follows {last}", step.location, step.attempt),
                    ));
                }
                (*last, *count) = (step.attempt, *count + 1);
                let options = limits.get(&step.location);
                if let Some(what) = options.and_then(|options| miscounts(options, *count, step)) {
                    found.push(stream.violation(10, format!("{} {what}", step.location)));
                }
            }
            _ => {}
        }
    }
    found
}

/// Invariant 10: after this number of recorded failures, the last of them this one, the policy
/// determines the number of retries left. An attempt that was lost in a crash is not a failure.
fn miscounts(options: &StepOptions, failures: u32, last: &StepFailed) -> Option<String> {
    let limit = options.retry.limit;
    let left = limit.checked_sub(failures);
    let is_right = match last.outcome {
        FailureOutcome::Retrying => last
            .retries_left
            .is_none_or(|recorded| Some(recorded) == left),
        FailureOutcome::Exhausted => failures == limit + 1,
        FailureOutcome::TimedOut => !options.retry_timeouts || failures == limit + 1,
        FailureOutcome::Fatal | FailureOutcome::RollBack | FailureOutcome::Cancelled => {
            failures <= limit.saturating_add(1)
        }
    };
    (!is_right).then(|| {
        format!(
            "failed {failures} times, {limit} retries allowed, recorded as {:?} with {:?} left",
            last.outcome, last.retries_left
        )
    })
}

/// Invariant 10: all attempts of a step have the same key, and no other step has it.
pub(super) fn check_ledger(ledger: &Ledger) -> Vec<Violation> {
    let mut keys = BTreeMap::new();
    let mut found = Vec::new();
    for attempt in &ledger.attempts {
        if attempt.stream.is_none() {
            continue;
        }
        let location = (attempt.stream, &attempt.run, &attempt.location);
        let known: &mut &String = keys.entry(location).or_insert(&attempt.key);
        if *known != &attempt.key {
            let what = format!("{location:?} was begun with two keys");
            found.push(Violation::of(10, what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use everstep_model::record::StepStarted;
    use everstep_model::{ErrorCode, Failure};
    use everstep_store_testkit::sample::{location, step};

    use super::*;
    use crate::observed::Attempt;
    use crate::observed::samples::{FINE, at, broken, record, stream};

    fn failed(attempt: u32) -> everstep_model::Record {
        failed_with(attempt, FailureOutcome::Retrying, None)
    }

    fn failed_with(
        attempt: u32,
        outcome: FailureOutcome,
        retries_left: Option<u32>,
    ) -> everstep_model::Record {
        record(StepFailed {
            location: location("s:0"),
            attempt,
            started_at: at(0),
            error: Failure::new(ErrorCode::RunFailed, "no"),
            outcome,
            retry_at: None,
            undo: None,
            retries_left,
        })
    }

    fn started(limit: u32) -> everstep_model::Record {
        let mut options = StepOptions::default();
        options.retry.limit = limit;
        record(StepStarted {
            location: location("s:0"),
            attempt: 1,
            options: Some(options),
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
    }

    #[test]
    fn retries_that_are_miscounted_are_found() {
        use FailureOutcome::{Exhausted, Retrying};
        let found = |records| broken(&check(&stream("a", records)));
        let first = |left| failed_with(1, Retrying, Some(left));
        assert_eq!(found(vec![started(2), first(1)]), FINE);
        assert_eq!(found(vec![started(2), first(0)]), [10]);
        let last = |limit| {
            vec![
                started(limit),
                failed(1),
                failed_with(3, Exhausted, Some(0)),
            ]
        };
        assert_eq!(found(last(1)), FINE);
        assert_eq!(found(last(2)), [10]);
        let too_many = failed_with(2, Retrying, Some(0));
        let once = failed_with(1, Exhausted, Some(0));
        assert_eq!(found(vec![started(0), once, too_many]), [10]);
    }

    #[test]
    fn two_keys_for_one_step_are_found() {
        let attempt = |key: &str| Attempt {
            run: "a".to_owned(),
            generation: 1,
            stream: Some(everstep_model::StreamNumber(1)),
            location: "r.0".to_owned(),
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
