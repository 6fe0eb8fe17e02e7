//! How long things lasted: remembers when each began, and measures at the record that ends it.

use std::collections::BTreeMap;
use std::time::Duration;

use everstep_model::record::{LoopAdvanced, TimerPurpose};
use everstep_model::{Body, Entry, Location, Scope, Segment, Timestamp};

/// What can be under way at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Attempt,
    Sleep,
    Wait,
    Rpc,
    Child,
    Branches,
    Undo,
}

/// Everything that can be forced to an end at its place.
const OPERATIONS: [Thing; 5] = [
    Thing::Attempt,
    Thing::Sleep,
    Thing::Wait,
    Thing::Rpc,
    Thing::Child,
];

/// What is under way, and since when.
#[derive(Debug, Default)]
pub(super) struct Spans {
    run: Option<Timestamp>,
    /// The attempt of the whole function.
    execution: Option<Timestamp>,
    pause: Option<Timestamp>,
    rollback: Option<Timestamp>,
    things: BTreeMap<(Location, Thing), Timestamp>,
    /// Iterations by their scope.
    iterations: BTreeMap<Scope, Timestamp>,
}

/// How long what a record ends had lasted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lasted {
    /// The thing itself.
    pub(super) whole: Option<Duration>,
    /// The rollback before the end of a run.
    pub(super) rollback: Option<Duration>,
}

impl Spans {
    /// Takes in the next record and measures what it ends.
    pub(super) fn lasted(&mut self, entry: &Entry) -> Lasted {
        let (time, body) = (entry.record.time, &entry.record.body);
        if let Some(location) = body.location() {
            self.enter_iterations(location, time);
        }
        let rollback = body
            .terminal()
            .and_then(|_| self.rollback.map(|began| began.until(time)));
        let began = self.began(time, body);
        let whole = began.map(|began| began.until(time));
        Lasted { whole, rollback }
    }

    /// When what the record ends began. What the record begins is remembered.
    fn began(&mut self, now: Timestamp, body: &Body) -> Option<Timestamp> {
        match body {
            Body::Created(_) => {
                self.run.get_or_insert(now);
                self.execution.get_or_insert(now);
                None
            }
            Body::StepStarted(r) => self.begin_again(&r.location, Thing::Attempt, now),
            Body::StepCompleted(r) => {
                self.end(&r.location, Thing::Attempt);
                Some(r.started_at)
            }
            Body::StepFailed(r) => {
                self.end(&r.location, Thing::Attempt);
                Some(r.started_at)
            }
            Body::StepAbandoned(r) => self.end(&r.location, Thing::Attempt),
            Body::StepSkipped(r) => self.end(&r.location, Thing::Attempt),
            Body::StepEdited(r) => self.end(&r.location, Thing::Attempt),
            Body::ForcedFailure(r) => {
                let location = r.location.as_ref()?;
                let mut things = OPERATIONS.into_iter();
                things.find_map(|thing| self.end(location, thing))
            }
            Body::Sleeping(r) => self.begin(&r.location, Thing::Sleep, now),
            Body::TimerFired(r) => match (r.purpose, &r.location) {
                (TimerPurpose::Sleep, Some(location)) => self.end(location, Thing::Sleep),
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
            Body::Waiting(r) => self.begin(&r.location, Thing::Wait, now),
            Body::WaitCompleted(r) => self.end(&r.location, Thing::Wait),
            Body::WaitTimedOut(r) => self.end(&r.location, Thing::Wait),
            Body::RpcRequested(r) => self.begin(&r.location, Thing::Rpc, now),
            // The question is over when the workflow takes note of the answer; how long a person took is told here.
            Body::RpcAnswered(r) => self.since(&r.location, Thing::Rpc),
            Body::RpcCompleted(r) => self.end(&r.location, Thing::Rpc),
            Body::BranchesStarted(r) => self.begin(&r.location, Thing::Branches, now),
            Body::BranchCompleted(r) => self.since(&r.location, Thing::Branches),
            Body::BranchFailed(r) => self.since(&r.location, Thing::Branches),
            Body::RaceWon(r) => self.end(&r.location, Thing::Branches),
            Body::LoopAdvanced(r) => self.advance(r, now),
            Body::ChildStarted(r) => self.begin(&r.location, Thing::Child, now),
            Body::ChildFinished(r) => self.end(&r.location, Thing::Child),
            Body::UndoStarted(r) => {
                self.rollback.get_or_insert(now);
                self.begin_again(&r.location, Thing::Undo, now)
            }
            Body::UndoCompleted(r) => self.end(&r.location, Thing::Undo),
            Body::UndoFailed(r) => self.end(&r.location, Thing::Undo),
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

    /// Of several records that begin one thing the first counts.
    fn begin(&mut self, at: &Location, thing: Thing, now: Timestamp) -> Option<Timestamp> {
        self.rollback = None;
        self.things.entry((at.clone(), thing)).or_insert(now);
        None
    }

    /// Each attempt begins anew.
    fn begin_again(&mut self, at: &Location, thing: Thing, now: Timestamp) -> Option<Timestamp> {
        // Code that opens something goes forward: a rollback it asked for is over.
        if thing != Thing::Undo {
            self.rollback = None;
        }
        self.things.insert((at.clone(), thing), now);
        None
    }

    fn since(&self, at: &Location, thing: Thing) -> Option<Timestamp> {
        self.things.get(&(at.clone(), thing)).copied()
    }

    fn end(&mut self, at: &Location, thing: Thing) -> Option<Timestamp> {
        self.things.remove(&(at.clone(), thing))
    }

    /// Nothing is recorded when a loop begins: its first iteration began, as far as known, with its first record.
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
        // An iteration without operations left no trace before this.
        self.iterations.insert(iteration(record.iteration), now);
        let ended = record.iteration.checked_sub(1)?;
        self.iterations.remove(&iteration(ended))
    }
}
