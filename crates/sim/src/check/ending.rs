//! Invariants 16 and 26 and the model of a program: a run ends once, all waiters receive the same
//! result, and the program can have that result.

use everstep_model::Body;

use crate::observed::{Journals, Ledger, Stream, Violation};
use crate::program::{Op, Seen, has};
use crate::workload::{RANDOM, value_of};

/// Checks that a run has one end, and it is the last record.
pub(super) fn check_end(stream: &Stream) -> Vec<Violation> {
    let ends = stream.entries.iter().skip(stream.copied);
    let ends = ends
        .filter(|entry| entry.record.body.terminal().is_some())
        .count();
    let is_last = stream.end().is_some_and(|end| end.terminal().is_some());
    let is_sound = match stream.closed_at {
        Some(_) => ends == 1 && is_last,
        None => ends == 0,
    };
    let what = || format!("it has {ends} ends, closed {:?}", stream.closed_at);
    let violation = (!is_sound).then(|| stream.violation(26, what()));
    violation.into_iter().collect()
}

/// Invariant 16: a request to end the run that arrived before its completion is not ignored.
pub(super) fn check_cancelled(stream: &Stream) -> Option<Violation> {
    let mut own = stream.entries.iter().skip(stream.copied);
    let is_request = |body: &Body| matches!(body, Body::CancelRequested(_));
    let is_ignored = matches!(stream.end(), Some(Body::Completed(_)))
        && own.any(|entry| is_request(&entry.record.body));
    is_ignored.then(|| stream.violation(16, "it completed after a request to cancel it"))
}

/// Checks that each waiter received the end of a generation of the run.
pub(super) fn check_answers(journals: &Journals, ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    for (run, received) in &ledger.received {
        let mut ends = journals.generations(run).filter_map(Stream::end);
        let is_such = |end: &Body| match (end, received) {
            (Body::Completed(end), Ok(received)) => end.result.as_str() == received,
            (Body::Completed(_), Err(_)) => false,
            (_, received) => received.is_err(),
        };
        if !ends.any(is_such) {
            let what = format!(
                "a waiter received {received:?} for {run}, which no generation of it ended with"
            );
            found.push(Violation::of(26, what));
        }
    }
    found
}

/// Checks that every run of a program has a result that the program can have, unless an operator
/// interfered.
pub(super) fn check_outcomes(journals: &Journals, ledger: &Ledger) -> Vec<Violation> {
    let mut found = Vec::new();
    for stream in journals.streams() {
        let (Some(created), Some((run, _))) = (stream.creation(), &stream.run) else {
            continue;
        };
        if created.workflow.as_str() != RANDOM {
            continue;
        }
        let program: Vec<Op> = created.input.decode().unwrap_or_default();
        // An edited or skipped step has another result, in this generation and in copies of it.
        let original = created.forked_from.as_ref().map_or(run, |fork| &fork.run);
        let is_edited = ledger.has_control(original.as_str(), &["skip", "edit"]);
        let mut report = |what: String| found.push(stream.violation(11, what));
        match stream.end() {
            Some(Body::Completed(end)) => {
                let seen: Vec<Seen> = end.result.decode().unwrap_or_default();
                let sources = Sources {
                    run: run.as_str(),
                    original: original.as_str(),
                    is_edited,
                };
                if let Err(what) = fits_all(&program, &seen, &sources, "r") {
                    report(what);
                }
            }
            Some(Body::Failed(end)) => {
                let is_forced =
                    ledger.has_control(original.as_str(), &["force-fail", "fail-operation"]);
                // A result from an operator may not fit the type that the code expects.
                let may_fail = has(&program, &|op| {
                    matches!(op, Op::Fail | Op::FailPass | Op::Race(_))
                });
                let is_late = stream
                    .visible()
                    .any(|entry| matches!(entry.record.body, Body::DeadlinePassed(_)));
                if !is_forced && !may_fail && !is_edited && !is_late {
                    report(format!(
                        "it failed, and none of its operations can: {}",
                        end.error
                    ));
                }
            }
            Some(Body::RollbackFailed(end)) => report(format!(
                "its rollback failed, and all undos work: {:?}",
                end.rollback_error
            )),
            Some(Body::Cancelled(_)) if !was_cancelled(stream) => {
                report("it is cancelled without a request".to_owned());
            }
            _ => {}
        }
    }
    found
}

fn was_cancelled(stream: &Stream) -> bool {
    let mut records = stream.entries.iter();
    records.any(|entry| matches!(entry.record.body, Body::CancelRequested(_)))
}

/// The runs whose results a generation may contain.
struct Sources<'a> {
    run: &'a str,
    /// The run it was forked from, or itself.
    original: &'a str,
    is_edited: bool,
}

fn fits_all(ops: &[Op], seen: &[Seen], sources: &Sources<'_>, path: &str) -> Result<(), String> {
    if ops.len() != seen.len() {
        return Err(format!(
            "{path} has {} operations and {} results",
            ops.len(),
            seen.len()
        ));
    }
    for (index, (op, seen)) in ops.iter().zip(seen).enumerate() {
        fits(op, seen, sources, &format!("{path}.{index}"))?;
    }
    Ok(())
}

/// Whether an operation can have this result.
fn fits(op: &Op, seen: &Seen, sources: &Sources<'_>, location: &str) -> Result<(), String> {
    let inner = |index: usize, ops: &[Op], seen: &[Seen]| {
        fits_all(ops, seen, sources, &format!("{location}-{index}"))
    };
    let is_fine = match (op, seen) {
        (Op::Step { .. }, Seen::Did(_)) if sources.is_edited => true,
        (Op::Step { .. }, Seen::Did(Some(value))) => [sources.run, sources.original]
            .iter()
            .any(|run| *value == value_of(run, location)),
        (Op::Step { how, .. }, Seen::Did(None)) => how.may_fail(),
        (Op::Wait { .. } | Op::WaitAny { .. } | Op::TryEvent, Seen::Events(events)) => {
            events.len() <= 1
        }
        (Op::Batch { max, .. }, Seen::Events(events)) => events.len() <= *max as usize,
        (Op::Ask { .. }, Seen::Answer(_)) | (Op::Version, Seen::Version(1 | 3)) => true,
        (
            Op::Child {
                takes_ms,
                fails,
                timeout_ms,
                ..
            },
            Seen::Child(child),
        ) => match child {
            Ok(Some(value)) => !fails && value == takes_ms,
            Ok(None) => timeout_ms.is_some(),
            Err(_) => true,
        },
        (
            Op::Join(parts)
            | Op::Each {
                branches: parts, ..
            },
            Seen::All(all),
        ) => {
            for (index, (ops, seen)) in parts.iter().zip(all).enumerate() {
                inner(index, ops, seen)?;
            }
            parts.len() == all.len()
        }
        (Op::Race(parts), Seen::One(index, seen)) => match parts.get(*index) {
            Some(ops) => return inner(*index, ops, seen),
            None => false,
        },
        (Op::Switch { value, cases }, Seen::One(index, seen)) => match cases.get(*value) {
            Some(ops) if index == value => return inner(*index, ops, seen),
            Some(_) => false,
            None => *index == usize::MAX && seen.is_empty(),
        },
        (Op::TryScope(ops), Seen::Scope(Ok(seen))) => return inner(0, ops, seen),
        (Op::TryScope(_), Seen::Scope(Err(_))) => true,
        (Op::Loop { times, body, .. }, Seen::Looped(iterations, done)) => {
            iterations == times && *done == times * body.len() as u32
        }
        (_, Seen::Nothing) => op.gives_nothing(),
        _ => false,
    };
    match is_fine {
        true => Ok(()),
        false => Err(format!("{op:?} at {location} gave {seen:?}")),
    }
}

#[cfg(test)]
mod tests {
    use everstep_model::record::{CancelRequested, Completed, Created};
    use everstep_model::{Payload, Record};
    use everstep_store_testkit::sample::{created, event, name};

    use super::*;
    use crate::observed::samples::{FINE, at, broken, record, stream};
    use crate::program::How;

    fn completed(seen: &[Seen]) -> Record {
        record(Completed {
            result: Payload::from_value(seen).unwrap(),
            abandoned: Vec::new(),
        })
    }

    #[test]
    fn a_second_end_and_a_record_after_the_end_are_found() {
        let found = |records| broken(&check_end(&stream("a", records)));
        assert_eq!(found(vec![completed(&[])]), FINE);
        assert_eq!(found(vec![completed(&[]), completed(&[])]), [26]);
        assert_eq!(found(vec![completed(&[]), event("e")]), [26]);
        let mut open = stream("a", vec![completed(&[])]);
        open.closed_at = None;
        assert_eq!(broken(&check_end(&open)), [26]);
        assert_eq!(at(0), at(0));
    }

    #[test]
    fn a_completion_after_a_cancellation_is_found() {
        let request = || {
            record(CancelRequested {
                by: None,
                reason: None,
                rollback: false,
            })
        };
        let found = |records| check_cancelled(&stream("a", records)).map(|v| v.invariant);
        assert_eq!(found(vec![completed(&[])]), None);
        assert_eq!(found(vec![request(), completed(&[])]), Some(16));
    }

    #[test]
    fn a_waiter_with_another_result_is_found() {
        let journals = Journals::of([stream("a", vec![completed(&[])])]);
        let found = |received: &str| {
            let ledger = Ledger {
                received: vec![("a".to_owned(), Ok(received.to_owned()))],
                ..Ledger::default()
            };
            broken(&check_answers(&journals, &ledger))
        };
        assert_eq!(found("[]"), FINE);
        assert_eq!(found("[1]"), [26]);
    }

    #[test]
    fn an_outcome_that_the_program_cannot_have_is_found() {
        let found = |value: &str| {
            let Body::Created(first) = created().body else {
                unreachable!("it is the first record");
            };
            let program = [Op::Step {
                how: How::Plain,
                takes_ms: 0,
                failures: 0,
            }];
            let first = Created {
                workflow: name(RANDOM),
                input: Payload::from_value(&program).unwrap(),
                ..*first
            };
            let mut stream = stream("a", vec![completed(&[Seen::Did(Some(value.to_owned()))])]);
            stream.entries[0].record = record(first);
            broken(&check_outcomes(&Journals::of([stream]), &Ledger::default()))
        };
        assert_eq!(found(&value_of("a", "r.0")), FINE);
        assert_eq!(found("something else"), [11]);
    }
}
