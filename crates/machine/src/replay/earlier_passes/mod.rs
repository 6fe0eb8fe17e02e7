//! What earlier passes of the function left behind: results that a later pass takes over without
//! executing the operation again.
//!
//! It is built from the records alone, without executing the earlier passes.

mod child;

use std::collections::HashMap;

use everstep_model::record::{
    RaceWon, StepCompleted, StepEdited, StepSkipped, SwitchChosen, WaitCompleted,
};
use everstep_model::{Body, Entry, Location, Name, Payload, Timestamp};

use super::event_queue::EventQueue;
use super::operations::{EventTaken, Resolution};
pub(super) use child::{Again, EarlierChild};

/// What is known about an operation of an earlier pass.
#[derive(Clone, Debug)]
pub(super) enum Remembered {
    /// It resolved. The name is the type of the record with which such an operation begins.
    Resolved(&'static str, Resolution),
    /// A step without a result, and its highest attempt.
    Attempted(u32),
    /// A sleep, wait or rpc that has not ended, by the type of its first record, and its deadline.
    Open(&'static str, Option<Timestamp>),
    Version(u32),
    /// A record that is written once per call, by its type name.
    Written(&'static str),
    /// The winner of a race.
    Won(Name),
    /// The branch that a switch chose.
    Chosen(Name),
    Child(Box<EarlierChild>),
}

impl Remembered {
    /// Returns the type name of the record with which the operation begins.
    pub(super) fn first_record(&self) -> &'static str {
        match self {
            Self::Resolved(kind, _) | Self::Open(kind, _) | Self::Written(kind) => kind,
            Self::Attempted(_) => "step_started",
            Self::Version(_) => "version_chosen",
            Self::Won(_) => "race_won",
            Self::Chosen(_) => "switch_chosen",
            Self::Child(_) => "child_started",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct EarlierPasses(HashMap<Location, Remembered>);

impl EarlierPasses {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes what is known about an operation. Each operation takes it over once.
    #[inline]
    pub(super) fn take(&mut self, location: &Location) -> Option<Remembered> {
        // Most runs have one pass, so avoid hashing the location.
        if self.0.is_empty() {
            return None;
        }
        self.0.remove(location)
    }

    /// Takes in a record of an earlier pass, or of the pause before the next one.
    pub(super) fn fold(&mut self, entry: &Entry, event_queue: &mut EventQueue) {
        let body = &entry.record.body;
        match body {
            Body::StepStarted(r) => self.put(&r.location, Remembered::Attempted(r.attempt)),
            Body::StepFailed(r) => self.put(&r.location, Remembered::Attempted(r.attempt)),
            Body::StepCompleted(StepCompleted {
                location, result, ..
            })
            | Body::StepSkipped(StepSkipped {
                location, result, ..
            })
            | Body::StepEdited(StepEdited {
                location, result, ..
            }) => {
                let result = Resolution::Completed(result.clone());
                self.put(location, Remembered::Resolved("step_started", result));
            }
            Body::Sleeping(r) => self.open(&r.location, body, Some(r.until)),
            Body::Waiting(r) => self.open(&r.location, body, r.deadline),
            Body::RpcRequested(r) => self.open(&r.location, body, r.deadline),
            Body::Event(r) => {
                event_queue.deliver(EventTaken::new(r.clone(), entry.number, entry.record.time));
            }
            Body::WaitCompleted(r) => self.fold_wait_completed(r, event_queue),
            Body::WaitTimedOut(r) => self.put(&r.location, waited(Vec::new())),
            Body::RpcAnswered(r) => self.fold_answer(&r.location, Some(r.answer.clone())),
            Body::RpcCompleted(r) if r.timed_out => self.fold_answer(&r.location, None),
            Body::TimerFired(r) => self.fold_timer(r.location.as_ref()),
            Body::VersionChosen(r) => self.put(&r.location, Remembered::Version(r.version)),
            Body::RaceWon(RaceWon { location, winner }) => {
                self.put(location, Remembered::Won(winner.clone()));
            }
            Body::SwitchChosen(SwitchChosen { location, branch }) => {
                self.put(location, Remembered::Chosen(branch.clone()));
            }
            Body::ChildStarted(r) => {
                let child = Box::new(EarlierChild::new(r));
                self.put(&r.location, Remembered::Child(child));
            }
            Body::ChildFinished(r) => self.with_child(&r.location, |child| child.finish(r)),
            Body::StepAbandoned(r) => self.with_child(&r.location, EarlierChild::leave),
            body if body.is_written_once() => {
                if let Some(location) = body.location() {
                    self.put(location, Remembered::Written(body.type_name()));
                }
            }
            _ => {}
        }
    }

    /// Remembers an operation. The first result counts; later records change nothing.
    fn put(&mut self, location: &Location, remembered: Remembered) {
        match self.0.get(location) {
            Some(Remembered::Resolved(..) | Remembered::Version(_)) => {}
            _ => drop(self.0.insert(location.clone(), remembered)),
        }
    }

    fn open(&mut self, location: &Location, body: &Body, deadline: Option<Timestamp>) {
        self.put(location, Remembered::Open(body.type_name(), deadline));
    }

    fn with_child(&mut self, location: &Location, change: impl FnOnce(&mut EarlierChild)) {
        if let Some(Remembered::Child(child)) = self.0.get_mut(location) {
            change(child);
        }
    }

    fn fold_wait_completed(&mut self, record: &WaitCompleted, event_queue: &mut EventQueue) {
        let numbers = record.events.iter();
        let events = numbers.filter_map(|event| event_queue.take_number(*event));
        self.put(&record.location, waited(events.collect()));
    }

    fn fold_answer(&mut self, location: &Location, answer: Option<Payload>) {
        if matches!(
            self.0.get(location),
            Some(Remembered::Open("rpc_requested", _))
        ) {
            self.put(location, answered(answer));
        }
    }

    fn fold_timer(&mut self, location: Option<&Location>) {
        let Some(location) = location else { return };
        let resolved = match self.0.get_mut(location) {
            Some(Remembered::Child(child)) => return child.time_out(),
            Some(Remembered::Open(kind, _)) => match *kind {
                "sleeping" => Remembered::Resolved("sleeping", Resolution::Slept),
                "waiting" => waited(Vec::new()),
                _ => answered(None),
            },
            _ => return,
        };
        self.put(location, resolved);
    }
}

fn waited(events: Vec<EventTaken>) -> Remembered {
    Remembered::Resolved("waiting", Resolution::Events(events))
}

fn answered(answer: Option<Payload>) -> Remembered {
    Remembered::Resolved("rpc_requested", Resolution::Answer(answer))
}
