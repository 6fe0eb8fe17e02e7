//! Operations that the code has called and that have not resolved yet, and what they resolve to.

use std::collections::VecDeque;

use everstep_model::record::{ChildOutcome, Event, FailureOutcome, ParentClose, TimerPurpose};
use everstep_model::{
    Failure, Location, Name, Payload, RecordNumber, RpcId, RunId, StepOptions, Timestamp,
};
use rustc_hash::FxHashMap;

/// Identifies an operation within one execution of the code. Later calls have greater ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// The failure of a step as the code sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct StepFailure {
    pub location: Location,
    /// The error of the last attempt.
    pub error: Failure,
    /// Why there is no further attempt.
    pub outcome: FailureOutcome,
    /// Whether the failure of the step must not fail the workflow.
    pub best_effort: bool,
}

/// An event as a wait receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct EventTaken {
    pub name: Name,
    pub payload: Payload,
    pub number: RecordNumber,
    /// When the event was sent.
    pub time: Timestamp,
}

impl EventTaken {
    pub(super) fn new(record: Event, number: RecordNumber, time: Timestamp) -> Self {
        Self {
            name: record.name,
            payload: record.payload,
            number,
            time,
        }
    }
}

/// The end of a child, as the operation that waits for it sees it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct ChildEnd {
    pub location: Location,
    pub run: RunId,
    /// `None` if the run stopped waiting for the child.
    pub outcome: Option<ChildOutcome>,
}

/// What an operation resolves to. Failures are boxed because every resolution is moved several
/// times on its way to the code.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// The result of a step.
    Completed(Payload),
    /// A step failed and is not retried.
    Failed(Box<StepFailure>),
    /// A sleep has ended.
    Slept,
    /// The events that a wait took; empty if it timed out.
    Events(Vec<EventTaken>),
    /// The answer to an rpc; `None` if it timed out.
    Answer(Option<Payload>),
    /// The winner of a race is durable.
    Won,
    /// A loop continues with a later iteration, because those before it are no longer in the
    /// journal.
    Iteration(u64, Payload),
    /// The code may continue behind an operation that was removed from it.
    Removed,
    /// A child ended, or the run stopped waiting for it.
    Child(Box<ChildEnd>),
    /// An explicit rollback has ended; the failure is of the undo that stopped it.
    RolledBack(Option<Box<Failure>>),
    /// The operation was not executed, because the run is being cancelled.
    Refused(Box<Failure>),
    /// An operator made an operation other than a step fail.
    Forced(Box<(Location, Failure)>),
}

/// The progress of a step between its call and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPhase {
    /// An attempt may begin.
    Runnable,
    /// A fenced attempt is about to begin; its start is not durable yet.
    Announcing,
    /// This process executes an attempt.
    Running,
    /// An attempt has ended; its record is not durable yet.
    Recording,
    /// The next attempt begins when its timer fires.
    Backoff(Timestamp),
}

/// Whether the start of the next attempt is in the journal already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStart {
    /// Its number is `StepOp::highest + 1`, and its start is not written.
    Unwritten,
    /// Its number is `StepOp::highest`. The call of the step wrote its start.
    Called,
    /// Its number is `StepOp::highest`, and its start is durable.
    Durable,
}

#[derive(Clone, Debug)]
pub(super) struct StepOp {
    pub(super) options: StepOptions,
    pub(super) phase: StepPhase,
    /// The highest attempt that is recorded or announced.
    pub(super) highest: u32,
    pub(super) next_start: NextStart,
    /// Recorded failures; takeovers do not count.
    pub(super) failures: u32,
    /// The highest attempt whose start is folded.
    pub(super) begun: u32,
    /// The highest attempt that has begun and whose end is folded.
    pub(super) ended: u32,
}

impl StepOp {
    /// Notes that no attempt is in flight according to the journal.
    pub(super) fn end(&mut self) {
        self.ended = self.begun;
    }

    /// Returns whether an attempt of a no-return step has started and its outcome is unknown,
    /// possibly because its process died.
    pub(super) fn has_unknown_outcome(&self) -> bool {
        self.options.no_return && self.begun > self.ended
    }
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Step(StepOp),
    Sleep {
        until: Timestamp,
    },
    Wait {
        deadline: Option<Timestamp>,
    },
    Rpc {
        id: RpcId,
        deadline: Option<Timestamp>,
    },
    Child(ChildOp),
    /// A race whose winner is not durable yet.
    Race,
    /// A loop whose next iteration is further down the journal, or not durable yet.
    Loop,
    /// An operation that was removed from the code, and whose end is further down the journal.
    Removed,
    /// An explicit rollback.
    Rollback,
    /// An operation that is not executed because the run is being cancelled.
    Refused,
}

/// A child that the run waits for.
#[derive(Clone, Debug)]
pub(super) struct ChildOp {
    pub(super) run: RunId,
    pub(super) on_close: ParentClose,
    pub(super) deadline: Option<Timestamp>,
    /// Whether the resolution is decided, so that dropping the operation does not affect the child.
    pub(super) is_decided: bool,
}

/// A row in the store that is no longer needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obsolete {
    /// A timer.
    Timer(Timestamp, TimerPurpose, Option<Location>),
    /// An rpc that can no longer be answered.
    Rpc(RpcId),
}

impl Operation {
    /// Returns whether this is a no-return step with an attempt whose outcome is unknown.
    pub(super) fn has_unknown_outcome(&self) -> bool {
        matches!(&self.kind, Kind::Step(step) if step.has_unknown_outcome())
    }

    /// Returns the rows in the store of an open operation.
    pub(super) fn rows(&self) -> Vec<Obsolete> {
        let (due, purpose) = match &self.kind {
            Kind::Step(step) => match step.phase {
                StepPhase::Backoff(due) => (Some(due), TimerPurpose::Retry),
                StepPhase::Runnable
                | StepPhase::Announcing
                | StepPhase::Running
                | StepPhase::Recording => return Vec::new(),
            },
            Kind::Sleep { until } => (Some(*until), TimerPurpose::Sleep),
            Kind::Wait { deadline } => (*deadline, TimerPurpose::Wait),
            Kind::Rpc { deadline, .. } => (*deadline, TimerPurpose::Rpc),
            Kind::Child(child) => (child.deadline, TimerPurpose::Child),
            Kind::Race | Kind::Loop | Kind::Removed | Kind::Rollback | Kind::Refused => {
                return Vec::new();
            }
        };
        let timer = due.map(|due| Obsolete::Timer(due, purpose, Some(self.location.clone())));
        let rpc = match &self.kind {
            Kind::Rpc { id, .. } => Some(Obsolete::Rpc(id.clone())),
            _ => None,
        };
        timer.into_iter().chain(rpc).collect()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) location: Location,
    pub(super) kind: Kind,
}

/// Up to this number of open operations, a linear search is faster than hashing a location.
const FEW: usize = 8;

/// The open operations in the order of their calls, and the resolutions that wait for a poll.
///
/// Most runs have one open operation at a time and a new one with every step. The list therefore
/// keeps its capacity; closed operations are removed when they are more than half of it.
#[derive(Debug, Default)]
pub(super) struct Operations {
    next: u32,
    /// Sorted by id; `None` if closed.
    listed: Vec<(OpId, Option<Operation>)>,
    open: usize,
    /// All open operations, from when there are more than `FEW` until all are closed; otherwise
    /// empty.
    by_location: FxHashMap<Location, OpId>,
    /// Resolutions that wait for a poll of their own.
    pub(super) pending: VecDeque<(OpId, Resolution)>,
}

impl Operations {
    pub(super) fn open(&mut self, location: Location, kind: Kind) -> OpId {
        let id = OpId(self.next);
        self.next += 1;
        if !self.by_location.is_empty() {
            self.by_location.insert(location.clone(), id);
        }
        self.listed.push((id, Some(Operation { location, kind })));
        self.open += 1;
        if self.open > FEW && self.by_location.is_empty() {
            self.by_location = self
                .iter()
                .map(|(id, operation)| (operation.location.clone(), id))
                .collect();
        }
        id
    }

    /// Opens an operation whose resolution is known.
    pub(super) fn open_resolved(
        &mut self,
        location: Location,
        kind: Kind,
        resolution: Resolution,
    ) -> OpId {
        let op = self.open(location, kind);
        self.resolve(op, resolution);
        op
    }

    /// Resolves an operation in a poll of its own.
    pub(super) fn resolve(&mut self, op: OpId, resolution: Resolution) {
        self.pending.push_back((op, resolution));
    }

    pub(super) fn close(&mut self, id: OpId) -> Option<Operation> {
        let index = self.index(id)?;
        let (_, listed) = self.listed.get_mut(index)?;
        let operation = listed.take()?;
        self.open -= 1;
        if self.open * 2 < self.listed.len() {
            self.listed.retain(|(_, operation)| operation.is_some());
        }
        if !self.by_location.is_empty() {
            self.by_location.remove(&operation.location);
        }
        Some(operation)
    }

    pub(super) fn get(&self, id: OpId) -> Option<&Operation> {
        let (_, operation) = self.listed.get(self.index(id)?)?;
        operation.as_ref()
    }

    fn get_mut(&mut self, id: OpId) -> Option<&mut Operation> {
        let index = self.index(id)?;
        let (_, operation) = self.listed.get_mut(index)?;
        operation.as_mut()
    }

    fn index(&self, id: OpId) -> Option<usize> {
        self.listed.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    pub(super) fn at(&self, location: &Location) -> Option<(OpId, &Operation)> {
        if self.by_location.is_empty() {
            return self
                .iter()
                .find(|(_, operation)| operation.location == *location);
        }
        let id = *self.by_location.get(location)?;
        self.get(id).map(|operation| (id, operation))
    }

    pub(super) fn step_mut(&mut self, id: OpId) -> Option<&mut StepOp> {
        match &mut self.get_mut(id)?.kind {
            Kind::Step(step) => Some(step),
            _ => None,
        }
    }

    pub(super) fn child_mut(&mut self, id: OpId) -> Option<&mut ChildOp> {
        match &mut self.get_mut(id)?.kind {
            Kind::Child(child) => Some(child),
            _ => None,
        }
    }

    pub(super) fn step_at_mut(&mut self, location: &Location) -> Option<(OpId, &mut StepOp)> {
        let (id, _) = self.at(location)?;
        self.step_mut(id).map(|step| (id, step))
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = (OpId, &Location, &StepOp)> + Clone {
        self.iter()
            .filter_map(|(id, operation)| match &operation.kind {
                Kind::Step(step) => Some((id, &operation.location, step)),
                _ => None,
            })
    }

    /// Returns the ids of open operations of some kinds.
    pub(super) fn select(&self, is_selected: impl Fn(&Operation) -> bool) -> Vec<OpId> {
        let selected = self.iter().filter(|(_, operation)| is_selected(operation));
        selected.map(|(op, _)| op).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (OpId, &Operation)> + Clone {
        let listed = self.listed.iter();
        listed.filter_map(|(id, operation)| operation.as_ref().map(|operation| (*id, operation)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open == 0
    }
}

#[cfg(test)]
mod tests;
