//! Measures durations: remembers when each operation began, and computes how long it took when a record ends it.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::record::{LoopAdvanced, TimerPurpose};
use everstep_model::{Body, Entry, Location, Scope, Segment, Timestamp};

/// What can be in flight at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
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
    run: Option<Timestamp>,
    /// The attempt of the whole function.
    execution: Option<Timestamp>,
    pause: Option<Timestamp>,
    rollback: Option<Timestamp>,
    operations: BTreeMap<(Location, Operation), Timestamp>,
    /// Iterations by their scope.
    iterations: BTreeMap<Scope, Timestamp>,
}

/// How long the operation took that a record ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Elapsed {
    pub(super) whole: Option<Duration>,
    /// The rollback before the end of a run; `None` for other records.
    pub(super) rollback: Option<Duration>,
}

impl Stopwatch {
    /// Takes in the next record and measures the operation that it ends.
    pub(super) fn measure(&mut self, entry: &Entry) -> Elapsed {
        let (time, body) = (entry.record.time, &entry.record.body);
        if let Some(location) = body.location() {
            self.enter_iterations(location, time);
        }
        let rollback = body
            .terminal()
            .and_then(|_| self.rollback.map(|began| began.until(time)));
        let began = self.began(time, body);
        let whole = began.map(|began| began.until(time));
        Elapsed { whole, rollback }
    }

    /// The start of the operation that the record ends. If the record begins one, its start is stored.
    fn began(&mut self, now: Timestamp, body: &Body) -> Option<Timestamp> {
        match body {
            Body::Created(_) => {
                self.run.get_or_insert(now);
                self.execution.get_or_insert(now);
                None
            }
            Body::StepStarted(r) => self.begin_again(&r.location, Operation::Attempt, now),
            Body::StepCompleted(r) => {
                self.end(&r.location, Operation::Attempt);
                Some(r.started_at)
            }
            Body::StepFailed(r) => {
                self.end(&r.location, Operation::Attempt);
                Some(r.started_at)
            }
            Body::StepAbandoned(r) => self.end(&r.location, Operation::Attempt),
            Body::StepSkipped(r) => self.end(&r.location, Operation::Attempt),
            Body::StepEdited(r) => self.end(&r.location, Operation::Attempt),
            Body::ForcedFailure(r) => {
                let location = r.location.as_ref()?;
                let mut operations = OPERATIONS.into_iter();
                operations.find_map(|operation| self.end(location, operation))
            }
            Body::Sleeping(r) => self.begin(&r.location, Operation::Sleep, now),
            Body::TimerFired(r) => match (r.purpose, &r.location) {
                (TimerPurpose::Sleep, Some(location)) => self.end(location, Operation::Sleep),
                (TimerPurpose::ExecutionRetry, _) => {
                    self.execution = Some(now);
                    None
                }
                (
                    TimerPurpose::Sleep
                    | TimerPurpose::Wait
                    | TimerPurpose::Rpc
                    | TimerPurpose::Retry
                    | TimerPurpose::Child
                    | TimerPurpose::Undo
                    | TimerPurpose::Deadline
                    | TimerPurpose::Expiry,
                    _,
                ) => None,
            },
            Body::Waiting(r) => self.begin(&r.location, Operation::Wait, now),
            Body::WaitCompleted(r) => self.end(&r.location, Operation::Wait),
            Body::WaitTimedOut(r) => self.end(&r.location, Operation::Wait),
            Body::RpcRequested(r) => self.begin(&r.location, Operation::Rpc, now),
            // The rpc ends with `rpc_completed`; the answer shows how long a person took.
            Body::RpcAnswered(r) => self.since(&r.location, Operation::Rpc),
            Body::RpcCompleted(r) => self.end(&r.location, Operation::Rpc),
            Body::BranchesStarted(r) => self.begin(&r.location, Operation::Branches, now),
            Body::BranchCompleted(r) => self.since(&r.location, Operation::Branches),
            Body::BranchFailed(r) => self.since(&r.location, Operation::Branches),
            Body::RaceWon(r) => self.end(&r.location, Operation::Branches),
            Body::LoopAdvanced(r) => self.advance(r, now),
            Body::ChildStarted(r) => self.begin(&r.location, Operation::Child, now),
            Body::ChildFinished(r) => self.end(&r.location, Operation::Child),
            Body::UndoStarted(r) => {
                self.rollback.get_or_insert(now);
                self.begin_again(&r.location, Operation::Undo, now)
            }
            Body::UndoCompleted(r) => self.end(&r.location, Operation::Undo),
            Body::UndoFailed(r) => self.end(&r.location, Operation::Undo),
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

    /// If several records begin the same operation, the first counts.
    fn begin(&mut self, at: &Location, operation: Operation, now: Timestamp) -> Option<Timestamp> {
        self.rollback = None;
        self.operations
            .entry((at.clone(), operation))
            .or_insert(now);
        None
    }

    /// Every attempt has its own start.
    fn begin_again(
        &mut self,
        at: &Location,
        operation: Operation,
        now: Timestamp,
    ) -> Option<Timestamp> {
        // Code that goes forward has left the rollback that it asked for.
        if operation != Operation::Undo {
            self.rollback = None;
        }
        self.operations.insert((at.clone(), operation), now);
        None
    }

    fn since(&self, at: &Location, operation: Operation) -> Option<Timestamp> {
        self.operations.get(&(at.clone(), operation)).copied()
    }

    fn end(&mut self, at: &Location, operation: Operation) -> Option<Timestamp> {
        self.operations.remove(&(at.clone(), operation))
    }

    /// No record marks the start of a loop, so its first iteration counts from the first record inside it.
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
        let Location {
            scope,
            name,
            counter,
        } = &record.location;
        let body = scope.child(Segment::Named(name.clone(), *counter));
        let iteration = |n: u64| body.child(Segment::Iteration(n));
        if record.done {
            return self.iterations.remove(&iteration(record.iteration));
        }
        // An iteration without operations has no earlier record.
        self.iterations.insert(iteration(record.iteration), now);
        let ended = record.iteration.checked_sub(1)?;
        self.iterations.remove(&iteration(ended))
    }
}
