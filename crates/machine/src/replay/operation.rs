//! Operations the code has called and that have not resolved yet, and what they resolve to.

use everstep_model::record::{ChildOutcome, FailureOutcome, ParentClose, TimerPurpose};
use everstep_model::{
    Failure, Location, Name, Payload, RecordNumber, RpcId, RunId, StepOptions, Timestamp,
};
use rustc_hash::FxHashMap;

/// An operation of one execution of the code, in the order of calling. It has no meaning outside that execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// How a step's failure reaches the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFailure {
    /// The step.
    pub location: Location,
    /// The error of the last attempt.
    pub error: Failure,
    /// Why there is no further attempt.
    pub outcome: FailureOutcome,
    /// Whether the step was called as one that must not fail the workflow.
    pub best_effort: bool,
}

/// An event as a wait receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTaken {
    /// Its name.
    pub name: Name,
    /// Its payload.
    pub payload: Payload,
    /// Its record.
    pub number: RecordNumber,
    /// When it was sent.
    pub time: Timestamp,
}

/// What a child came to, as the operation that waited for it sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEnd {
    /// The operation.
    pub location: Location,
    /// The child.
    pub run: RunId,
    /// How it ended; none if the run stopped waiting for it.
    pub outcome: Option<ChildOutcome>,
}

/// What an operation resolves to. Failures are boxed: every result is moved several times on its way to the code.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// A step has its result.
    Completed(Payload),
    /// A step failed for good.
    Failed(Box<StepFailure>),
    /// A sleep is over.
    Slept,
    /// A wait took events, or gave up and took none.
    Events(Vec<EventTaken>),
    /// An rpc was answered, or gave up.
    Answer(Option<Payload>),
    /// The winner of a race is durable.
    Won,
    /// A loop goes on with a later iteration: those before are no longer in the journal.
    Iteration(u64, Payload),
    /// The place of an operation that the code no longer has is passed.
    Removed,
    /// A child ended, or the run stopped waiting for it.
    Child(Box<ChildEnd>),
    /// An explicit rollback is over, and what kept it from undoing everything.
    RolledBack(Option<Box<Failure>>),
    /// The operation was not done: the run is being cancelled, or an operator made the operation fail.
    Refused(Box<Failure>),
}

/// Where a step stands between its call and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepPhase {
    /// An attempt may begin.
    Runnable,
    /// A fenced attempt is about to begin; its start is not durable yet.
    Announcing,
    /// An attempt is under way here.
    Running,
    /// An attempt has ended; its record is not durable yet.
    Recording,
    /// The next attempt begins when its timer fires.
    Backoff(Timestamp),
}

#[derive(Clone, Debug)]
pub(super) struct StepOp {
    pub(super) options: StepOptions,
    pub(super) phase: StepPhase,
    /// The highest attempt that is recorded or announced.
    pub(super) highest: u32,
    /// Whether `highest` was announced by this execution and nobody has begun it.
    pub(super) fresh: bool,
    /// Recorded failures; takeovers do not count.
    pub(super) failures: u32,
    /// Whether the start of attempt `highest` is durable and the attempt has not begun (fenced steps only).
    pub(super) announced: bool,
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
    /// A race that has its winner, until that is durable.
    Race,
    /// A loop whose next iteration is further down the journal, or an operation the code no longer has and whose end is.
    Loop,
    Child(ChildOp),
    /// An explicit rollback.
    Rollback,
}

/// A child the run waits for.
#[derive(Clone, Debug)]
pub(super) struct ChildOp {
    pub(super) run: RunId,
    pub(super) on_close: ParentClose,
    pub(super) deadline: Option<Timestamp>,
    /// Whether its resolution is decided, so that nothing becomes of the child by dropping the operation.
    pub(super) settled: bool,
}

/// A row that an operation left in the store and that nothing needs any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obsolete {
    /// A timer.
    Timer(Timestamp, TimerPurpose, Option<Location>),
    /// An rpc that can no longer be answered.
    Rpc(RpcId),
}

impl Operation {
    /// The rows it has in the store while it is open.
    pub(super) fn rows(&self) -> Vec<Obsolete> {
        let timer = |due, purpose| Obsolete::Timer(due, purpose, Some(self.location.clone()));
        match &self.kind {
            Kind::Step(step) => match step.phase {
                StepPhase::Backoff(due) => vec![timer(due, TimerPurpose::Retry)],
                StepPhase::Runnable
                | StepPhase::Announcing
                | StepPhase::Running
                | StepPhase::Recording => Vec::new(),
            },
            Kind::Sleep { until } => vec![timer(*until, TimerPurpose::Sleep)],
            Kind::Wait { deadline } => deadline
                .iter()
                .map(|due| timer(*due, TimerPurpose::Wait))
                .collect(),
            Kind::Rpc { id, deadline } => {
                let timer = deadline.iter().map(|due| timer(*due, TimerPurpose::Rpc));
                timer.chain([Obsolete::Rpc(id.clone())]).collect()
            }
            Kind::Child(child) => child
                .deadline
                .iter()
                .map(|due| timer(*due, TimerPurpose::Child))
                .collect(),
            Kind::Race | Kind::Loop | Kind::Rollback => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) location: Location,
    pub(super) kind: Kind,
}

/// So many open operations are found faster by looking at each than by hashing a place.
const FEW: usize = 8;

/// The open operations. Iteration is in the order of calling.
///
/// Most runs have one open operation at a time, and a new one with every step: so they are kept in a list that is
/// filled anew without asking for memory. Closed ones are swept out when they are the greater part of it.
#[derive(Debug, Default)]
pub(super) struct Operations {
    next: u32,
    /// By id, which rises; closed ones are empty.
    listed: Vec<(OpId, Option<Operation>)>,
    open: usize,
    /// All of them, from when they become many until all are closed; empty otherwise.
    by_location: FxHashMap<Location, OpId>,
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
            Kind::Sleep { .. }
            | Kind::Wait { .. }
            | Kind::Rpc { .. }
            | Kind::Race
            | Kind::Loop
            | Kind::Child(_)
            | Kind::Rollback => None,
        }
    }

    pub(super) fn child_mut(&mut self, id: OpId) -> Option<&mut ChildOp> {
        match &mut self.get_mut(id)?.kind {
            Kind::Child(child) => Some(child),
            Kind::Step(_)
            | Kind::Sleep { .. }
            | Kind::Wait { .. }
            | Kind::Rpc { .. }
            | Kind::Race
            | Kind::Loop
            | Kind::Rollback => None,
        }
    }

    pub(super) fn step_at_mut(&mut self, location: &Location) -> Option<(OpId, &mut StepOp)> {
        let (id, _) = self.at(location)?;
        self.step_mut(id).map(|step| (id, step))
    }

    /// The open steps.
    pub(super) fn steps(&self) -> impl Iterator<Item = (OpId, &Location, &StepOp)> + Clone {
        self.iter()
            .filter_map(|(id, operation)| match &operation.kind {
                Kind::Step(step) => Some((id, &operation.location, step)),
                Kind::Sleep { .. }
                | Kind::Wait { .. }
                | Kind::Rpc { .. }
                | Kind::Race
                | Kind::Loop
                | Kind::Child(_)
                | Kind::Rollback => None,
            })
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
mod tests {
    use super::*;

    fn opened(operations: &mut Operations, place: u32) -> OpId {
        let name = Name::new("sleep").unwrap();
        let until = Timestamp::from_millis(u64::from(place));
        operations.open(Location::root(name, place), Kind::Sleep { until })
    }

    #[test]
    fn open_operations_are_found_however_many_were_closed_around_them() {
        let mut operations = Operations::default();
        let first = opened(&mut operations, 0);
        let mut open = vec![first];
        for place in 1..100 {
            open.push(opened(&mut operations, place));
            // Every third stays.
            if place % 3 != 0 {
                let closed = operations.close(open.pop().unwrap()).unwrap();
                assert!(operations.at(&closed.location).is_none());
            }
        }
        let listed: Vec<OpId> = operations.iter().map(|(id, _)| id).collect();
        assert_eq!(listed, open);
        for id in open {
            let location = operations.get(id).unwrap().location.clone();
            assert_eq!(operations.at(&location).unwrap().0, id);
            assert!(operations.close(id).is_some());
            assert!(operations.close(id).is_none());
        }
        assert!(operations.is_empty() && operations.get(first).is_none());
    }

    #[test]
    fn operations_are_found_by_place_when_they_become_many_and_few_again() {
        let mut operations = Operations::default();
        for _ in 0..2 {
            let mut open = Vec::new();
            for place in 0..3 * FEW as u32 {
                open.push(opened(&mut operations, place));
                for (place, id) in (0..).zip(&open) {
                    let location = Location::root(Name::new("sleep").unwrap(), place);
                    assert_eq!(operations.at(&location).unwrap().0, *id);
                }
            }
            for (place, id) in (0..).zip(open) {
                let location = Location::root(Name::new("sleep").unwrap(), place);
                assert_eq!(operations.at(&location).unwrap().0, id);
                operations.close(id);
                assert!(operations.at(&location).is_none());
            }
            assert!(operations.by_location.is_empty());
        }
    }

    #[test]
    fn what_is_closed_takes_no_room_for_long() {
        let mut operations = Operations::default();
        opened(&mut operations, 0);
        for place in 1..1_000 {
            let id = opened(&mut operations, place);
            operations.close(id);
            assert!(operations.listed.len() <= 2);
        }
    }
}
