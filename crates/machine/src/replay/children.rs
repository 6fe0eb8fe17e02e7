//! Children of the run, as its execution knows them, and events to other runs.
//!
//! A child is started by a record and ends by one: what happens between is the engine's business. Whoever stops waiting
//! says so once, as `step_abandoned`; what becomes of the child then goes along with the commit of that record.

use std::time::Duration;

use everstep_model::record::{
    ChildFinished, ChildOutcome, ChildStarted, ParentClose, Sent, StepAbandoned,
};
use everstep_model::{
    Body, Failure, Link, Location, Name, Payload, RunId, Scope, Timestamp, UndoMode,
};

use super::Replay;
use super::control::cancelled;
use super::divergence::CallSite;
use super::memo::Remembered;
use super::operation::{ChildEnd, ChildOp, Kind, OpId, Resolution};
use crate::undo::Subject;

/// A child that the code starts.
#[derive(Clone, Debug)]
pub struct ChildCall {
    /// Its workflow.
    pub workflow: Name,
    /// Its id; one made of the parent and the place if none is given.
    pub id: Option<RunId>,
    /// What it gets.
    pub input: Payload,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How long the code waits for it.
    pub timeout: Option<Duration>,
    /// What becomes of it when the code stops waiting.
    pub on_close: ParentClose,
    /// Whether it can be undone once it has completed.
    pub undo: UndoMode,
}

/// A child that the run does not wait for any more, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftChild {
    /// The operation that started it.
    pub location: Location,
    /// The child.
    pub run: RunId,
    /// What becomes of it.
    pub on_close: ParentClose,
}

/// A child that an earlier pass of the function started.
#[derive(Clone, Debug)]
pub(super) struct KnownChild {
    run: RunId,
    deadline: Option<Timestamp>,
    /// Whether that pass stopped waiting for it.
    left: bool,
    /// Whether it did so because its time was over.
    timed_out: bool,
    outcome: Option<ChildOutcome>,
}

/// What a later pass makes of a child.
enum Again {
    /// What it came to stands.
    Ended(Option<ChildOutcome>),
    /// It is waited for again.
    Wait,
    /// Another one is started in its place.
    Anew,
}

impl KnownChild {
    pub(super) fn new(record: &ChildStarted) -> Self {
        Self {
            run: record.run.clone(),
            deadline: record.deadline,
            left: false,
            timed_out: false,
            outcome: None,
        }
    }

    pub(super) fn finished(&mut self, record: &ChildFinished) {
        if record.run.as_ref().is_none_or(|run| *run == self.run) {
            self.outcome.get_or_insert_with(|| record.outcome.clone());
        }
    }

    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    pub(super) fn time_out(&mut self) {
        self.timed_out |= !self.left && self.outcome.is_none();
    }

    /// The pass that gave a child up left it to its fate: it is started anew, unless it completed all the same or the code
    /// insists on its id.
    fn again(&mut self, call: &ChildCall) -> Again {
        if self.timed_out && call.timeout.is_some() {
            return Again::Ended(None);
        }
        let is_completed = matches!(self.outcome, Some(ChildOutcome::Completed(_)));
        let is_given_up = (self.left || self.timed_out) && !is_completed;
        if is_given_up && call.id.as_ref() != Some(&self.run) {
            return Again::Anew;
        }
        match self.outcome.take() {
            Some(outcome) => Again::Ended(Some(outcome)),
            None => Again::Wait,
        }
    }
}

impl ChildOp {
    fn left(&self, location: &Location) -> Option<LeftChild> {
        LeftChild::of(location, &self.run, self.on_close)
    }
}

impl LeftChild {
    /// Nothing becomes of a child that was to go on.
    pub(super) fn of(location: &Location, run: &RunId, on_close: ParentClose) -> Option<Self> {
        match on_close {
            ParentClose::Abandon => None,
            ParentClose::Cancel | ParentClose::Terminate => Some(Self {
                location: location.clone(),
                run: run.clone(),
                on_close,
            }),
        }
    }
}

impl Replay {
    /// Starts a child and waits for its end.
    pub fn call_child(
        &mut self,
        scope: &Scope,
        place: &Name,
        call: ChildCall,
        site: CallSite,
    ) -> Option<OpId> {
        let location = self.call(scope, place, "child_started", site)?;
        let mut run = self.child_id(&location, call.id.as_ref());
        let timeout = call.timeout;
        let mut deadline = timeout.map(|timeout| self.wall.max(self.now).after(timeout));
        match self.memo.take(&location) {
            Some(Remembered::Child(mut known)) => match known.again(&call) {
                Again::Ended(outcome) => {
                    let known_one = Subject::child(&location, &known.run);
                    self.rollback.log.reach(&known_one);
                    let resolution = ended(&location, &known.run, outcome);
                    let kind = child(known.run, call.on_close, None);
                    return Some(self.open_resolved(location, kind, resolution));
                }
                Again::Wait => {
                    deadline = timeout.and(known.deadline.or(deadline));
                    run = known.run;
                }
                Again::Anew => {}
            },
            None => {}
            Some(other) => return self.halt_on_memory(&location, "child_started", &other, site),
        }
        if self.cancel.is_some() {
            return Some(self.open_refused(location));
        }
        let said = started(&location, run, call, deadline, false);
        let Some(Body::ChildStarted(recorded)) = self.say_at(said.into(), Some(site)) else {
            return None;
        };
        let kind = child(recorded.run, recorded.on_close, recorded.deadline);
        Some(self.operations.open(location, kind))
    }

    /// Starts a child that nobody waits for, and gives its id.
    ///
    /// # Errors
    /// If the run is being cancelled and starts nothing any more.
    pub fn detach_child(
        &mut self,
        scope: &Scope,
        place: &Name,
        call: ChildCall,
        site: CallSite,
    ) -> Result<Option<RunId>, Failure> {
        let Some(location) = self.call(scope, place, "child_started", site) else {
            return Ok(None);
        };
        match self.memo.take(&location) {
            Some(Remembered::Child(known)) => return Ok(Some(known.run)),
            Some(other) => {
                self.halt_on_memory(&location, "child_started", &other, site);
                return Ok(None);
            }
            None if self.cancel.is_some() => {
                self.refusals += 1;
                return Err(cancelled());
            }
            None => {}
        }
        let run = self.child_id(&location, call.id.as_ref());
        let said = started(&location, run, call, None, true);
        let recorded = self.say_at(said.into(), Some(site));
        Ok(recorded.and_then(|recorded| match recorded {
            Body::ChildStarted(recorded) => Some(recorded.run),
            _ => None,
        }))
    }

    /// Sends an event to another run.
    pub fn send(
        &mut self,
        scope: &Scope,
        to: RunId,
        event: Name,
        payload: Payload,
        site: CallSite,
    ) {
        self.write(scope, "__sent", site, |location| {
            Sent {
                location,
                to,
                event,
                payload,
            }
            .into()
        });
    }

    /// Takes the children that the run no longer waits for; they go with the commit of what was said about them.
    pub fn take_left_children(&mut self) -> Vec<LeftChild> {
        std::mem::take(&mut self.left)
    }

    /// Gives children back whose commit was refused.
    pub fn put_back_left_children(&mut self, mut children: Vec<LeftChild>) {
        children.append(&mut self.left);
        self.left = children;
    }

    /// The children a run leaves when it ends now.
    #[must_use]
    pub fn remaining_children(&self) -> Vec<LeftChild> {
        let open = self.operations.iter();
        let children = open.filter_map(|(_, operation)| match &operation.kind {
            Kind::Child(child) if !child.settled => child.left(&operation.location),
            _ => None,
        });
        children.collect()
    }

    /// A child ended: whoever waits for it hears of it. One that was given up is not heard any more.
    pub(super) fn fold_child_finished(&mut self, record: ChildFinished) {
        let Some((op, operation)) = self.operations.at(&record.location) else {
            return;
        };
        let rows = operation.rows();
        let Some(child) = self.operations.child_mut(op) else {
            return;
        };
        let is_other = record.run.is_some_and(|run| run != child.run);
        if is_other || std::mem::replace(&mut child.settled, true) {
            return;
        }
        let resolution = ended(&record.location, &child.run, Some(record.outcome));
        self.obsolete.extend(rows);
        self.pending.push_back((op, resolution));
    }

    /// The time for which the code waits for a child is over.
    pub(super) fn fold_child_timed_out(&mut self, op: OpId, due: Timestamp) {
        let Some(operation) = self.operations.get(op) else {
            return;
        };
        let Kind::Child(child) = &operation.kind else {
            return;
        };
        if child.settled || child.deadline != Some(due) {
            return;
        }
        let resolution = ended(&operation.location, &child.run, None);
        self.give_up_child(op);
        self.pending.push_back((op, resolution));
    }

    /// The operation of a child is about to be resolved by something else than the child's end.
    pub(super) fn give_up_child(&mut self, op: OpId) {
        let Some(operation) = self.operations.get(op) else {
            return;
        };
        let Kind::Child(child) = operation.kind.clone() else {
            return;
        };
        self.leave_child(operation.location.clone(), &child);
        if let Some(child) = self.operations.child_mut(op) {
            child.settled = true;
        }
    }

    /// The code no longer waits for a child. What becomes of the child is told once: along with the record that says so.
    pub(super) fn leave_child(&mut self, location: Location, child: &ChildOp) {
        if child.settled {
            return;
        }
        let is_new = self.script.next_expected().is_none();
        let left = child.left(&location);
        let abandoned = StepAbandoned {
            location,
            so_far: None,
        };
        if self.say(abandoned.into()).is_some() && is_new {
            self.left.extend(left);
        }
    }

    fn child_id(&self, location: &Location, chosen: Option<&RunId>) -> RunId {
        if let Some(id) = chosen {
            return id.clone();
        }
        let call = Link {
            run: self.id.clone(),
            generation: self.generation,
            location: location.clone(),
            identity: self.facts.as_ref().map(|facts| facts.identity),
        };
        RunId::of_child(&call, self.pass)
    }
}

fn child(run: RunId, on_close: ParentClose, deadline: Option<Timestamp>) -> Kind {
    Kind::Child(ChildOp {
        run,
        on_close,
        deadline,
        settled: false,
    })
}

/// What the operation of a child resolves to.
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
