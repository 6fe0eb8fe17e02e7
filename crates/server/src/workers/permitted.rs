//! Checks what a worker may write into the journals of its runs, so that a faulty worker or a
//! stolen key can only execute runs incorrectly. The fence decides whether it may write at all.

use axum::http::StatusCode;
use everstep_engine::{Append, Then};
use everstep_model::limits::TAGS_MAX;
use everstep_model::record::{LoopAdvanced, RESERVED_COLLECTIONS};
use everstep_model::{Body, ErrorCode, Origin, RecordNumber, RunStatus, check_attribute};

use crate::failure::Failure;

pub(super) fn check(append: &Append) -> Result<(), Failure> {
    check_status(append.then)?;
    check_end(append)?;
    for record in &append.records {
        check_record(&record.body, append)?;
    }
    Ok(())
}

/// Rejects an append as a whole.
pub(super) fn rejected(detail: impl Into<String>) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidAppend, detail)
}

/// Checks that an executor may leave a run in this status.
fn check_status(then: Then) -> Result<(), Failure> {
    use RunStatus::{Diverged, Paused, Retrying, RollingBack, Running, Sleeping, Waiting};
    let (word, status, allowed): (_, _, &[RunStatus]) = match then {
        Then::GoOnAs(status) => ("go_on_as", status, &[Running, RollingBack]),
        Then::Suspend(status) => (
            "suspend",
            status,
            &[Sleeping, Waiting, Retrying, Paused, RollingBack],
        ),
        Then::Park(status) => ("park", status, &[Diverged]),
        // `check_end` compares the final status with the terminal record.
        Then::End(_) | Then::EndAnyway(_) | Then::Continue | Then::Release | Then::Abandon => {
            return Ok(());
        }
    };
    match allowed.contains(&status) {
        true => Ok(()),
        false => Err(rejected(format!(
            "`then` = `{word}` does not go with the status `{status}`"
        ))),
    }
}

/// Checks that the terminal record is the last record of the append that ends the run, and that no
/// other append has one.
fn check_end(append: &Append) -> Result<(), Failure> {
    let ends_as = match append.then {
        Then::End(status) | Then::EndAnyway(status) => Some(status),
        Then::Continue
        | Then::GoOnAs(_)
        | Then::Suspend(_)
        | Then::Park(_)
        | Then::Release
        | Then::Abandon => None,
    };
    let last = append.records.last();
    let last = last.and_then(|last| last.body.terminal());
    if last != ends_as {
        let detail = "the terminal record is the last record of the append that ends the run, and no other append has one";
        return Err(rejected(detail));
    }
    let ends = append.records.iter();
    match ends.filter_map(|record| record.body.terminal()).count() {
        0 | 1 => Ok(()),
        _ => Err(rejected("a run has one terminal record")),
    }
}

fn check_record(body: &Body, append: &Append) -> Result<(), Failure> {
    if body.origin() != Origin::Executor && !is_own_failure(body, append.then) {
        let kind = body.type_name();
        return Err(rejected(format!("a worker writes no `{kind}` records")));
    }
    for payload in body.payloads() {
        payload.check_size()?;
    }
    match body {
        Body::LoopAdvanced(advanced) => check_dropped(advanced, append.seen),
        Body::ChildStarted(child) if child.tags.len() > TAGS_MAX => {
            Err(rejected(format!("a run may have {TAGS_MAX} tags")))
        }
        Body::StateChanged(row) if RESERVED_COLLECTIONS.contains(&row.collection.as_str()) => {
            let detail = format!("collection `{}` is reserved for the engine", row.collection);
            Err(rejected(detail))
        }
        Body::AttributeSet(set) => check_attribute(set.attribute.as_str(), &set.value)
            .map_err(|invalid| rejected(invalid.to_string())),
        _ => Ok(()),
    }
}

/// Returns whether this is the one inbox record that an executor writes itself: the code cannot
/// continue, and a rollback follows.
fn is_own_failure(body: &Body, then: Then) -> bool {
    let Body::ForcedFailure(forced) = body else {
        return false;
    };
    let is_of_the_run = forced.location.is_none() && forced.so_far.is_none();
    is_of_the_run && then == Then::GoOnAs(RunStatus::RollingBack)
}

/// Checks that a loop drops only records that the worker has seen, and never the first, which
/// describes the run.
fn check_dropped(advanced: &LoopAdvanced, seen: RecordNumber) -> Result<(), Failure> {
    let dropped = advanced.dropped.iter().map(|it| (it.first, it.last));
    let gaps = advanced.gaps.iter().map(|gap| (gap.first, gap.last));
    let mut ranges = dropped.chain(gaps);
    match ranges.all(|(first, last)| RecordNumber(0) < first && first <= last && last < seen) {
        true => Ok(()),
        false => Err(rejected(
            "a loop drops only records that its worker has seen, and never the first",
        )),
    }
}
