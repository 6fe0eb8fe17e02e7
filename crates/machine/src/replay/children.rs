//! Children that the run starts and may wait for.
//!
//! One record starts a child and one ends it; the engine does the rest. A run that stops waiting
//! for a child records `step_abandoned` once, and the commit of that record applies the child's
//! parent-close policy.

use std::time::Duration;

use everstep_model::record::{
    ChildFinished, ChildOutcome, ChildStarted, ParentClose, StepAbandoned,
};
use everstep_model::{Body, Failure, Link, Location, Name, Payload, RunId, Timestamp, UndoMode};

use super::call::Call;
use super::context::{Called, Context};
use super::earlier_passes::{Again, EarlierChild, Remembered};
use super::execution::Replay;
use super::operations::{ChildEnd, ChildOp, Kind, OpId, Resolution};
use super::outgoing::LeftChild;
use super::state::cancelled;
use crate::undo::Subject;

/// A child that the code starts.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct ChildCall {
    pub workflow: Name,
    /// `None` derives the id from the parent and the location.
    pub id: Option<RunId>,
    pub input: Payload,
    pub tags: Vec<String>,
    /// How long the code waits for the child.
    pub timeout: Option<Duration>,
    pub on_close: ParentClose,
    /// Whether the child can be undone when it has completed.
    pub undo: UndoMode,
}

/// A child that the code starts without waiting for it.
#[derive(Clone, Debug)]
pub struct DetachedChild(pub ChildCall);

impl Call for ChildCall {
    type Output = OpId;
    const RECORD: &'static str = "child_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<OpId> {
        let cx = &mut replay.context;
        let Called { location, site } = called;
        let new_deadline = self.timeout.map(|timeout| cx.position.deadline(timeout));
        let (run, deadline) = match cx.earlier.take(&location) {
            None => (id(&location, self.id.as_ref(), cx), new_deadline),
            Some(Remembered::Child(mut earlier)) => {
                match earlier.again(self.id.as_ref(), self.timeout.is_some()) {
                    Again::Ended(outcome) => {
                        let EarlierChild { run, .. } = *earlier;
                        let log = &mut replay.rollback.log;
                        log.mark_reached(&Subject::child(&location, &run));
                        let resolution = ended(&location, &run, outcome);
                        let kind = operation(run, self.on_close, None);
                        return Some(cx.operations.open_resolved(location, kind, resolution));
                    }
                    Again::Wait => {
                        let deadline = self.timeout.and(earlier.deadline.or(new_deadline));
                        (earlier.run, deadline)
                    }
                    Again::StartAnother => (id(&location, self.id.as_ref(), cx), new_deadline),
                }
            }
            Some(other) => {
                cx.halt_on_other(&Called { location, site }, Self::RECORD, &other);
                return None;
            }
        };
        if cx.state.is_cancelled() {
            return Some(cx.open_refused(location));
        }
        let started = started(&location, run, self, deadline, false);
        let Some(Body::ChildStarted(recorded)) = cx.add_line(started, Some(site)) else {
            return None;
        };
        let kind = operation(recorded.run, recorded.on_close, recorded.deadline);
        Some(cx.operations.open(location, kind))
    }
}

impl Call for DetachedChild {
    /// The id of the child, or why it is not started.
    type Output = Result<RunId, Failure>;
    const RECORD: &'static str = "child_started";

    fn call(self, called: Called, _: &Name, replay: &mut Replay) -> Option<Self::Output> {
        let cx = &mut replay.context;
        match cx.earlier.take(&called.location) {
            Some(Remembered::Child(earlier)) => return Some(Ok(earlier.run)),
            Some(other) => {
                cx.halt_on_other(&called, Self::RECORD, &other);
                return None;
            }
            None if cx.state.is_cancelled() => {
                cx.state.count_refusal();
                return Some(Err(cancelled()));
            }
            None => {}
        }
        let run = id(&called.location, self.0.id.as_ref(), cx);
        let started = started(&called.location, run, self.0, None, true);
        match cx.add_line(started, Some(called.site))? {
            Body::ChildStarted(recorded) => Some(Ok(recorded.run)),
            _ => None,
        }
    }
}

/// Returns the children that a run leaves if it ends now.
pub(super) fn remaining(cx: &Context) -> impl Iterator<Item = LeftChild> {
    let open = cx.operations.iter();
    open.filter_map(|(_, operation)| match &operation.kind {
        Kind::Child(child) if !child.is_decided => child.left(&operation.location),
        _ => None,
    })
}

/// Resolves the operation of a child, unless the run has stopped waiting for it.
pub(super) fn fold_finished(record: ChildFinished, cx: &mut Context) {
    let Some((op, operation)) = cx.operations.at(&record.location) else {
        return;
    };
    let rows = operation.rows();
    let Some(child) = cx.operations.child_mut(op) else {
        return;
    };
    let is_other = record.run.is_some_and(|run| run != child.run);
    if is_other || std::mem::replace(&mut child.is_decided, true) {
        return;
    }
    let resolution = ended(&record.location, &child.run, Some(record.outcome));
    cx.outgoing.obsolete.extend(rows);
    cx.operations.resolve(op, resolution);
}

pub(super) fn fold_timed_out(op: OpId, due: Timestamp, cx: &mut Context) {
    let Some(operation) = cx.operations.get(op) else {
        return;
    };
    let Kind::Child(child) = &operation.kind else {
        return;
    };
    if child.is_decided || child.deadline != Some(due) {
        return;
    }
    let resolution = ended(&operation.location, &child.run, None);
    give_up(op, cx);
    cx.operations.resolve(op, resolution);
}

/// Stops waiting for a child, because its operation resolves for another reason.
pub(super) fn give_up(op: OpId, cx: &mut Context) {
    let Some(operation) = cx.operations.get(op) else {
        return;
    };
    let Kind::Child(child) = operation.kind.clone() else {
        return;
    };
    leave(operation.location.clone(), &child, cx);
    if let Some(child) = cx.operations.child_mut(op) {
        child.is_decided = true;
    }
}

/// Records that the code no longer waits for a child. The parent-close policy is applied once: by
/// the commit of the new record.
pub(super) fn leave(location: Location, child: &ChildOp, cx: &mut Context) {
    if child.is_decided {
        return;
    }
    let is_new = cx.script.is_at_end();
    let left = child.left(&location);
    let abandoned = StepAbandoned {
        location,
        so_far: None,
    };
    if cx.add_line(abandoned, None).is_some() && is_new {
        cx.outgoing.left.extend(left);
    }
}

impl ChildOp {
    fn left(&self, location: &Location) -> Option<LeftChild> {
        LeftChild::new(location, &self.run, self.on_close)
    }
}

fn id(location: &Location, chosen: Option<&RunId>, cx: &Context) -> RunId {
    if let Some(id) = chosen {
        return id.clone();
    }
    let run = &cx.run;
    let call = Link {
        run: run.id.clone(),
        generation: run.generation,
        location: location.clone(),
        identity: run.info.as_ref().map(|info| info.identity),
    };
    RunId::of_child(&call, run.pass)
}

fn operation(run: RunId, on_close: ParentClose, deadline: Option<Timestamp>) -> Kind {
    Kind::Child(ChildOp {
        run,
        on_close,
        deadline,
        is_decided: false,
    })
}

/// Returns what the operation of a child resolves to.
fn ended(location: &Location, run: &RunId, outcome: Option<ChildOutcome>) -> Resolution {
    Resolution::Child(Box::new(ChildEnd {
        location: location.clone(),
        run: run.clone(),
        outcome,
    }))
}

fn started(
    location: &Location,
    run: RunId,
    call: ChildCall,
    deadline: Option<Timestamp>,
    detached: bool,
) -> ChildStarted {
    ChildStarted {
        location: location.clone(),
        run,
        workflow: call.workflow,
        input: call.input,
        tags: call.tags,
        deadline,
        on_close: call.on_close,
        detached,
        undo: call.undo,
    }
}

#[cfg(test)]
mod tests;
