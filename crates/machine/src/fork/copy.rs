//! Turns kept records into records of the new run: rewrites references and removes what must not be
//! copied.

use std::collections::BTreeSet;

use everstep_model::record::{Created, ForkReason, ForkedFrom, ParentClose};
use everstep_model::{Body, Generation, Location, Payload, Record, RpcId, UndoMode};

use super::kept::{Kept, Numbers};
use super::moments::Moments;
use super::plan::{ForkExtent, ForkPlan};
use crate::undo::Subject;

/// What the first record of a copy says about its original.
pub(super) struct CopyOrigin {
    pub(super) reason: ForkReason,
    pub(super) keys_of: Option<Generation>,
    /// Whether the copy is beyond the point of no return from its beginning, because it continues a
    /// run that passed it.
    pub(super) no_return: bool,
}

/// Returns the records of the new journal.
pub(super) fn copy(kept: Vec<Kept>, origin: CopyOrigin, plan: &ForkPlan) -> Vec<Record> {
    let CopyOrigin {
        reason,
        keys_of,
        no_return,
    } = origin;
    let numbers = Numbers::of(&kept);
    let moments = Moments::of(&kept, &numbers);
    let disowned = match reason {
        // The original continues and undoes its own steps and children.
        ForkReason::Fork => owned_by_original(&kept),
        ForkReason::Recover | ForkReason::Restart | ForkReason::RetryRollback => BTreeSet::new(),
    };
    let (at, edited) = match &plan.extent {
        ForkExtent::Before { at, edited } => (Some(at.clone()), edited.as_ref()),
        _ => (None, None),
    };
    let from = ForkedFrom {
        run: plan.source.0.clone(),
        generation: plan.source.1,
        reason,
        keys_of,
        at,
        edited: edited.map(Payload::digest),
    };
    let records = kept.into_iter().map(|kept| {
        let Record { mut time, mut body } = kept.record;
        if let Body::Created(created) = &mut body {
            adopt(created, from.clone(), plan);
            created.no_return = no_return;
            if matches!(plan.extent, ForkExtent::Beginning(_)) {
                time = plan.now;
            }
        }
        rewrite_references(&mut body, &numbers, plan);
        moments.keep(&mut body);
        disown(&mut body, &disowned);
        Record { time, body }
    });
    records.collect()
}

/// Turns `created` into that of the copy, which has no idempotency key and no parent. Its deadline
/// is as far away as the original's was.
fn adopt(created: &mut Created, from: ForkedFrom, plan: &ForkPlan) {
    created.idempotency_key = None;
    created.parent = None;
    created.parent_identity = None;
    created.mark = Some(plan.mark);
    created.by = plan.by.clone();
    created.forked_from = Some(from);
    created.deadline = created
        .deadline
        .map(|deadline| plan.now.after(plan.began.until(deadline)));
    if let ForkExtent::Beginning(Some(version)) = plan.extent {
        created.version = version;
    }
}

/// Turns references to the original into references to the copy.
fn rewrite_references(body: &mut Body, numbers: &Numbers, plan: &ForkPlan) {
    let (run, generation) = &plan.target;
    let rpc_at = |location: &Location| RpcId::of(run, *generation, location);
    match body {
        Body::RpcRequested(record) => record.rpc_id = rpc_at(&record.location),
        Body::RpcAnswered(record) => record.rpc_id = rpc_at(&record.location),
        Body::RpcCompleted(record) => record.rpc_id = rpc_at(&record.location),
        Body::WaitCompleted(record) => {
            let taken = record.events.iter();
            record.events = taken.filter_map(|old| numbers.new_of(*old)).collect();
        }
        Body::Replied(record) => {
            record.event = numbers.new_of(record.event).unwrap_or(record.event);
        }
        Body::LoopAdvanced(record) => {
            record.began = numbers.position_of(record.began);
            // The copy has no gaps; the set of dropped iterations stays the same.
            record.dropped = Vec::new();
            record.gaps = Vec::new();
            record.inbox_dropped = 0;
        }
        // The copy may wait for children of the original, but must not cancel them.
        Body::ChildStarted(record) => record.on_close = ParentClose::Abandon,
        _ => {}
    }
}

/// Removes the undos of what belongs to the original.
fn disown(body: &mut Body, disowned: &BTreeSet<Subject>) {
    let what = match &*body {
        Body::ChildStarted(record) => Some(Subject::child(&record.location, &record.run)),
        body => body.location().map(Subject::step),
    };
    if !what.is_some_and(|what| disowned.contains(&what)) {
        return;
    }
    match body {
        Body::StepStarted(record) => {
            if let Some(options) = &mut record.options {
                options.undo = UndoMode::None;
            }
        }
        Body::StepCompleted(record) => record.undo = None,
        Body::StepFailed(record) => record.undo = None,
        Body::ChildStarted(record) => record.undo = UndoMode::None,
        _ => {}
    }
}

/// Returns the steps with a result and all children, except those that the original has begun to
/// undo.
fn owned_by_original(kept: &[Kept]) -> BTreeSet<Subject> {
    let bodies = || kept.iter().map(|kept| &kept.record.body);
    let undone: BTreeSet<Subject> = bodies().filter_map(Subject::of).collect();
    let owned = bodies().filter_map(|body| match body {
        Body::ChildStarted(record) => Some(Subject::child(&record.location, &record.run)),
        Body::StepFailed(record) if record.retry_at.is_some() => None,
        Body::StepCompleted(_)
        | Body::StepSkipped(_)
        | Body::StepEdited(_)
        | Body::StepFailed(_) => body.location().map(Subject::step),
        _ => None,
    });
    owned.filter(|what| !undone.contains(what)).collect()
}
