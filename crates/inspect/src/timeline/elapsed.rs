//! Measures durations: remembers when each operation began, and computes how long it took when a
//! record ends it.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_machine::iteration_scope;
use everstep_model::record::{LoopAdvanced, TimerPurpose};
use everstep_model::{Body, Entry, Location, Scope, Segment, Timestamp};

use serde::{Deserialize, Serialize};

use super::duration::ShortDuration;
use crate::phrase::{Part, part};

/// What can be in flight at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    Attempt,
    Sleep,
    Wait,
    Rpc,
    Child,
    Branches,
    Undo,
}

/// Everything that an operator can force to fail.
const OPERATIONS: [Operation; 5] = [
    Operation::Attempt,
    Operation::Sleep,
    Operation::Wait,
    Operation::Rpc,
    Operation::Child,
];

/// The start times of everything in flight.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    pub(super) run: Option<Timestamp>,
    /// The attempt of the whole function.
    pub(super) execution: Option<Timestamp>,
    pub(super) pause: Option<Timestamp>,
    pub(super) rollback: Option<Timestamp>,
    pub(super) operations: BTreeMap<(Location, Operation), Timestamp>,
    /// Iterations by their scope.
    pub(super) iterations: BTreeMap<Scope, Timestamp>,
}

/// How long the operation took that a record ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Elapsed {
    pub(super) total: Option<Duration>,
    /// The rollback before the end of a run; `None` for other records.
    pub(super) rollback: Option<Duration>,
}

impl Elapsed {
    /// ` after 3s`
    pub(super) fn after(self) -> Part<ShortDuration> {
        part(" after ", self.total.map(ShortDuration))
    }

    /// ` in 3s`
    pub(super) fn took(self) -> Part<ShortDuration> {
        part(" in ", self.total.map(ShortDuration))
    }

    /// Returns the duration of the rollback before the end of a run.
    pub(super) fn of_rollback(self) -> Self {
        Self {
            total: self.rollback,
            rollback: None,
        }
    }
}

impl Stopwatch {
    /// Takes in the next record and measures the operation that it ends.
    pub(super) fn measure(&mut self, entry: &Entry) -> Elapsed {
        let (time, body) = (entry.record.time, &entry.record.body);
        if let Some(location) = body.location() {
            self.enter_iterations(location, time);
        }
        let rollback = self.rollback.filter(|_| body.terminal().is_some());
        let rollback = rollback.map(|began| began.until(time));
        let total = self.began(time, body).map(|began| began.until(time));
        Elapsed { total, rollback }
    }

    /// Returns the start of the operation that the record ends. If the record begins one, its start
    /// is stored.
    fn began(&mut self, now: Timestamp, body: &Body) -> Option<Timestamp> {
        let at = body.location();
        match body {
            Body::Created(_) => {
                self.run.get_or_insert(now);
                self.execution.get_or_insert(now);
                None
            }
            Body::StepStarted(_) => self.begin_again(at, Operation::Attempt, now),
            Body::StepCompleted(r) => {
                self.end(at, Operation::Attempt);
                Some(r.started_at)
            }
            Body::StepFailed(r) => {
                self.end(at, Operation::Attempt);
                Some(r.started_at)
            }
            Body::StepAbandoned(_) | Body::StepSkipped(_) | Body::StepEdited(_) => {
                self.end(at, Operation::Attempt)
            }
            Body::ForcedFailure(_) => {
                let mut operations = OPERATIONS.into_iter();
                operations.find_map(|operation| self.end(at, operation))
            }
            Body::Sleeping(_) => self.begin(at, Operation::Sleep, now),
            Body::TimerFired(r) if r.purpose == TimerPurpose::Sleep => {
                self.end(at, Operation::Sleep)
            }
            Body::TimerFired(r) if r.purpose == TimerPurpose::ExecutionRetry => {
                self.execution = Some(now);
                None
            }
            Body::Waiting(_) => self.begin(at, Operation::Wait, now),
            Body::WaitCompleted(_) | Body::WaitTimedOut(_) => self.end(at, Operation::Wait),
            Body::RpcRequested(_) => self.begin(at, Operation::Rpc, now),
            // The rpc ends with `rpc_completed`; the answer shows how long a person took.
            Body::RpcAnswered(_) => self.since(at, Operation::Rpc),
            Body::RpcCompleted(_) => self.end(at, Operation::Rpc),
            Body::BranchesStarted(_) => self.begin(at, Operation::Branches, now),
            Body::BranchCompleted(_) | Body::BranchFailed(_) => self.since(at, Operation::Branches),
            Body::RaceWon(_) => self.end(at, Operation::Branches),
            Body::LoopAdvanced(r) => self.advance(r, now),
            Body::ChildStarted(_) => self.begin(at, Operation::Child, now),
            Body::ChildFinished(_) => self.end(at, Operation::Child),
            Body::UndoStarted(_) => {
                self.rollback.get_or_insert(now);
                self.begin_again(at, Operation::Undo, now)
            }
            Body::UndoCompleted(_) | Body::UndoFailed(_) => self.end(at, Operation::Undo),
            Body::UndoSkipped(_) => {
                self.rollback.get_or_insert(now);
                None
            }
            Body::Paused(_) => {
                self.pause.get_or_insert(now);
                None
            }
            Body::ResumeRequested(_) | Body::Resumed(_) => self.pause.take(),
            Body::ExecutionRetried(_) => self.execution.take(),
            body if body.terminal().is_some() => self.run,
            _ => None,
        }
    }

    /// Begins an operation. If several records begin the same one, the first counts.
    fn begin(
        &mut self,
        at: Option<&Location>,
        operation: Operation,
        now: Timestamp,
    ) -> Option<Timestamp> {
        self.rollback = None;
        let operations = &mut self.operations;
        operations.entry((at?.clone(), operation)).or_insert(now);
        None
    }

    /// Begins an attempt. Every attempt has its own start.
    fn begin_again(
        &mut self,
        at: Option<&Location>,
        operation: Operation,
        now: Timestamp,
    ) -> Option<Timestamp> {
        // Code that goes forward has left the rollback that it requested.
        if operation != Operation::Undo {
            self.rollback = None;
        }
        self.operations.insert((at?.clone(), operation), now);
        None
    }

    fn since(&self, at: Option<&Location>, operation: Operation) -> Option<Timestamp> {
        self.operations.get(&(at?.clone(), operation)).copied()
    }

    fn end(&mut self, at: Option<&Location>, operation: Operation) -> Option<Timestamp> {
        self.operations.remove(&(at?.clone(), operation))
    }

    /// Begins the iterations around a location. No record marks the start of a loop, so its first
    /// iteration counts from the first record inside it.
    fn enter_iterations(&mut self, location: &Location, now: Timestamp) {
        let path = location.scope.segments();
        for (index, segment) in path.iter().enumerate() {
            if let (Segment::Iteration(_), Some(path)) = (segment, path.get(..=index)) {
                let scope = Scope::from_segments(path.iter().cloned());
                self.iterations.entry(scope).or_insert(now);
            }
        }
    }

    /// Ends an iteration and begins the next, unless the loop is over.
    fn advance(&mut self, record: &LoopAdvanced, now: Timestamp) -> Option<Timestamp> {
        let iteration = |number| iteration_scope(&record.location, number);
        if record.done {
            return self.iterations.remove(&iteration(record.iteration));
        }
        // An iteration without operations has no earlier record.
        self.iterations.insert(iteration(record.iteration), now);
        let ended = record.iteration.checked_sub(1)?;
        self.iterations.remove(&iteration(ended))
    }
}
