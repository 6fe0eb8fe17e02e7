//! What earlier passes of the code left behind: results that a later pass takes over without doing the work again.
//!
//! A pass is one execution of the workflow function from its beginning; `execution_retried` ends one and begins the
//! next. The memory is built from records alone, without running the old pass.

use std::collections::HashMap;

use everstep_model::record::ChildFinished;
use everstep_model::{Body, Location, Name, Payload, RecordNumber, Timestamp};

use super::children::KnownChild;
use super::mailbox::Mailbox;
use super::operation::{EventTaken, Resolution};

/// What is known about an operation of an earlier pass.
#[derive(Clone, Debug)]
pub(super) enum Remembered {
    /// It resolved.
    Resolved(&'static str, Resolution),
    /// A step without a result: its highest attempt.
    Attempted(u32),
    /// A sleep that may still end.
    Sleeping(Timestamp),
    /// A wait that may still take an event.
    Waiting(Option<Timestamp>),
    /// An rpc that may still be answered.
    Asked(Option<Timestamp>),
    /// A gate was decided.
    Version(u32),
    /// A note, row or emit was written, or a branch chosen.
    Written(&'static str),
    /// A race had its winner.
    Won(Name),
    /// A switch had chosen.
    Chosen(Name),
    /// A child was started.
    Child(Box<KnownChild>),
}

#[derive(Debug, Default)]
pub(super) struct Memo(HashMap<Location, Remembered>);

impl Memo {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is known; each operation takes it over once.
    pub(super) fn take(&mut self, location: &Location) -> Option<Remembered> {
        // Most runs have one pass: no need to hash the place.
        if self.0.is_empty() {
            return None;
        }
        self.0.remove(location)
    }

    /// Learns from a record of an earlier pass, or of the pause before the next.
    pub(super) fn learn(
        &mut self,
        number: RecordNumber,
        time: Timestamp,
        body: &Body,
        mailbox: &mut Mailbox,
    ) {
        let resolved = |resolution| Remembered::Resolved("step_started", resolution);
        match body {
            Body::StepStarted(r) => self.put(&r.location, Remembered::Attempted(r.attempt)),
            Body::StepFailed(r) => self.put(&r.location, Remembered::Attempted(r.attempt)),
            Body::StepCompleted(r) => {
                self.put(
                    &r.location,
                    resolved(Resolution::Completed(r.result.clone())),
                );
            }
            Body::StepSkipped(r) => {
                self.put(
                    &r.location,
                    resolved(Resolution::Completed(r.result.clone())),
                );
            }
            Body::StepEdited(r) => {
                self.put(
                    &r.location,
                    resolved(Resolution::Completed(r.result.clone())),
                );
            }
            Body::Sleeping(r) => self.put(&r.location, Remembered::Sleeping(r.until)),
            Body::Waiting(r) => self.put(&r.location, Remembered::Waiting(r.deadline)),
            Body::RpcRequested(r) => {
                self.put(&r.location, Remembered::Asked(r.deadline));
            }
            Body::Event(r) => {
                let event = EventTaken {
                    name: r.name.clone(),
                    payload: r.payload.clone(),
                    number,
                    time,
                };
                mailbox.deliver(event);
            }
            Body::WaitCompleted(r) => {
                let numbers = r.events.iter();
                let taken = numbers.filter_map(|event| mailbox.take_number(*event));
                let events = Resolution::Events(taken.collect());
                self.put(&r.location, Remembered::Resolved("waiting", events));
            }
            Body::WaitTimedOut(r) => {
                let none = Resolution::Events(Vec::new());
                self.put(&r.location, Remembered::Resolved("waiting", none));
            }
            Body::RpcAnswered(r) => self.answered(&r.location, Some(r.answer.clone())),
            Body::RpcCompleted(r) if r.timed_out => self.answered(&r.location, None),
            Body::TimerFired(r) => self.fired(r.location.as_ref()),
            Body::VersionChosen(r) => self.put(&r.location, Remembered::Version(r.version)),
            Body::RaceWon(r) => self.put(&r.location, Remembered::Won(r.winner.clone())),
            Body::SwitchChosen(r) => self.put(&r.location, Remembered::Chosen(r.branch.clone())),
            Body::ChildStarted(r) => {
                let known = Remembered::Child(Box::new(KnownChild::new(r)));
                self.put(&r.location, known);
            }
            Body::ChildFinished(r) => self.child_finished(r),
            Body::StepAbandoned(r) => self.child_left(&r.location),
            body if body.is_written_once() => {
                if let Some(location) = body.location() {
                    self.put(location, Remembered::Written(body.type_name()));
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, location: &Location, remembered: Remembered) {
        let known = self.0.get(location);
        // The first result stands; a late or repeated record changes nothing.
        if !matches!(
            known,
            Some(Remembered::Resolved(..) | Remembered::Version(_))
        ) {
            self.0.insert(location.clone(), remembered);
        }
    }

    fn answered(&mut self, location: &Location, answer: Option<Payload>) {
        if matches!(self.0.get(location), Some(Remembered::Asked(_))) {
            self.put(
                location,
                Remembered::Resolved("rpc_requested", Resolution::Answer(answer)),
            );
        }
    }

    fn fired(&mut self, location: Option<&Location>) {
        let Some(location) = location else { return };
        if let Some(Remembered::Child(known)) = self.0.get_mut(location) {
            return known.time_out();
        }
        let resolved = match self.0.get(location) {
            Some(Remembered::Sleeping(_)) => Remembered::Resolved("sleeping", Resolution::Slept),
            Some(Remembered::Waiting(_)) => {
                Remembered::Resolved("waiting", Resolution::Events(Vec::new()))
            }
            Some(Remembered::Asked(_)) => {
                Remembered::Resolved("rpc_requested", Resolution::Answer(None))
            }
            _ => return,
        };
        self.put(location, resolved);
    }

    fn child_finished(&mut self, record: &ChildFinished) {
        if let Some(Remembered::Child(known)) = self.0.get_mut(&record.location) {
            known.finished(record);
        }
    }

    fn child_left(&mut self, location: &Location) {
        if let Some(Remembered::Child(known)) = self.0.get_mut(location) {
            known.leave();
        }
    }
}
