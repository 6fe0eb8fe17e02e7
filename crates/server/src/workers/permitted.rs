//! What a worker may write into the journals of its runs. Its right to write at all is the fence's business; here it is held
//! against what an executor has to say, so that a worker with a mistake, or a stolen key, does no more than execute badly.

use everstep_engine::{Append, EngineError, Then};
use everstep_model::record::{LoopAdvanced, RESERVED_COLLECTIONS};
use everstep_model::{Body, ErrorCode, Origin, RecordNumber, RunStatus, check_attribute, limits};

use crate::failure::Failure;

/// Refuses an append that holds what a worker may not write.
pub(super) fn check(append: &Append) -> Result<(), Failure> {
    check_status(append.then)?;
    check_end(append)?;
    for record in &append.records {
        check_record(&record.body, append)?;
    }
    Ok(())
}

/// An append that is refused as a whole.
pub(super) fn refused(detail: impl Into<String>) -> Failure {
    Failure::invalid(detail).coded(ErrorCode::InvalidAppend)
}

/// The statuses that an executor leaves a run in.
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
        // What the run ends as is held against the record that says so.
        Then::End(_) | Then::EndAnyway(_) | Then::Continue | Then::Release | Then::Abandon => {
            return Ok(());
        }
    };
    match allowed.contains(&status) {
        true => Ok(()),
        false => Err(refused(format!(
            "`then` = `{word}` does not go with the status `{status}`"
        ))),
    }
}

/// A run ends with the record that says so: the last one of the append that ends it, and nowhere else.
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
    let says = |body: &Body| body.terminal();
    let last = append.records.last().and_then(|last| says(&last.body));
    if last != ends_as {
        let detail = "an append that ends a run ends with the record that says how, and no other append has one";
        return Err(refused(detail));
    }
    let ends = append.records.iter();
    match ends.filter(|record| says(&record.body).is_some()).count() {
        0 | 1 => Ok(()),
        _ => Err(refused("a run ends once")),
    }
}

fn check_record(body: &Body, append: &Append) -> Result<(), Failure> {
    if body.origin() != Origin::Executor && !is_own_failure(body, append.then) {
        let kind = body.type_name();
        return Err(refused(format!("a worker writes no `{kind}` records")));
    }
    for payload in body.payloads() {
        payload.check_size().map_err(EngineError::from)?;
    }
    match body {
        Body::LoopAdvanced(advanced) => check_dropped(advanced, append.seen),
        Body::ChildStarted(child) if child.tags.len() > limits::TAGS_MAX => {
            Err(refused(format!("a run may have {} tags", limits::TAGS_MAX)))
        }
        Body::StateChanged(row) if RESERVED_COLLECTIONS.contains(&row.collection.as_str()) => {
            let collection = &row.collection;
            Err(refused(format!(
                "rows named `{collection}` are the engine's"
            )))
        }
        Body::AttributeSet(set) => check_attribute(set.attribute.as_str(), &set.value)
            .map_err(|invalid| refused(invalid.to_string())),
        _ => Ok(()),
    }
}

/// The one record of the inbox that an executor writes itself: that the code will never go on, before anything is undone.
fn is_own_failure(body: &Body, then: Then) -> bool {
    let Body::ForcedFailure(forced) = body else {
        return false;
    };
    let is_of_the_run = forced.location.is_none() && forced.so_far.is_none();
    is_of_the_run && then == Then::GoOnAs(RunStatus::RollingBack)
}

/// A loop drops records that the worker knows, and never the first one: it says what the run is.
fn check_dropped(advanced: &LoopAdvanced, seen: RecordNumber) -> Result<(), Failure> {
    let is_well_formed = |first: RecordNumber, last: RecordNumber| {
        first > RecordNumber(0) && first <= last && last < seen
    };
    let dropped = advanced
        .dropped
        .iter()
        .map(|range| (range.first, range.last));
    let gaps = advanced.gaps.iter().map(|gap| (gap.first, gap.last));
    let mut ranges = dropped.chain(gaps);
    match ranges.all(|(first, last)| is_well_formed(first, last)) {
        true => Ok(()),
        false => Err(refused(
            "a loop drops records that its worker knows, from the second one on",
        )),
    }
}
