//! Events that no wait has taken yet, and waits for events: first in, first out per name.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use everstep_model::planted::{self, Bug};
use everstep_model::{Name, RecordNumber};

use super::operations::{EventTaken, OpId};

/// A call of a wait for events.
#[derive(Clone, Debug)]
pub struct WaitCall {
    /// The wait takes events of any of these names.
    pub names: Vec<Name>,
    /// The maximum number of events that it takes.
    pub batch: u32,
    /// Whether it resolves at once if there are no events.
    pub at_once: bool,
    /// How long it waits.
    pub timeout: Option<Duration>,
}

#[derive(Debug, Default)]
pub(super) struct EventQueue {
    buffered: HashMap<Name, VecDeque<EventTaken>>,
    /// In the order of their calls.
    waits: BTreeMap<OpId, WaitCall>,
    /// Events that belong to waits which were removed from the code.
    reserved: BTreeSet<RecordNumber>,
    /// Waits that were called while matching events were buffered, or that resolve at once.
    matches: VecDeque<OpId>,
}

impl EventQueue {
    /// Delivers an event. Returns the wait that takes it, or `None` if the event is buffered.
    pub(super) fn deliver(&mut self, event: EventTaken) -> Option<(OpId, Vec<EventTaken>)> {
        if self.reserved.remove(&event.number) {
            return None;
        }
        let mut waits = self.waits.iter();
        let waiting = waits.find(|(_, wait)| wait.names.contains(&event.name));
        let Some(op) = waiting.map(|(op, _)| *op) else {
            self.buffer(event);
            return None;
        };
        self.waits.remove(&op);
        if planted::is(Bug::EventConsumedTwice) {
            self.buffer(event.clone());
        }
        Some((op, vec![event]))
    }

    fn buffer(&mut self, event: EventTaken) {
        let buffered = self.buffered.entry(event.name.clone()).or_default();
        buffered.push_back(event);
    }

    /// Returns the next wait that resolves with buffered events, or without because it does not
    /// wait. Events are taken only when their wait resolves, so a wait that is dropped before takes
    /// none.
    #[inline]
    pub(super) fn next_match(&mut self) -> Option<(OpId, Vec<EventTaken>)> {
        if self.matches.is_empty() {
            return None;
        }
        self.take_match()
    }

    fn take_match(&mut self) -> Option<(OpId, Vec<EventTaken>)> {
        while let Some(op) = self.matches.pop_front() {
            let Some(wait) = self.waits.get(&op).cloned() else {
                continue;
            };
            let taken = self.take_buffered(&wait);
            if wait.at_once || !taken.is_empty() {
                self.waits.remove(&op);
                return Some((op, taken));
            }
        }
        None
    }

    /// Takes the oldest events that a wait wants.
    fn take_buffered(&mut self, wait: &WaitCall) -> Vec<EventTaken> {
        let batch = usize::try_from(wait.batch).unwrap_or(usize::MAX).max(1);
        let mut taken = Vec::new();
        while taken.len() < batch {
            let oldest = wait
                .names
                .iter()
                .filter_map(|name| Some((self.buffered.get(name)?.front()?.number, name)))
                .min_by_key(|(number, _)| *number);
            let Some((_, name)) = oldest else { break };
            taken.extend(self.buffered.get_mut(name).and_then(VecDeque::pop_front));
        }
        taken
    }

    /// Returns whether a wait may resolve without another event.
    pub(super) fn has_matches(&self) -> bool {
        !self.matches.is_empty()
    }

    /// Takes a buffered event by the number of its record.
    pub(super) fn take_number(&mut self, number: RecordNumber) -> Option<EventTaken> {
        self.buffered.values_mut().find_map(|events| {
            let index = events.iter().position(|event| event.number == number)?;
            events.remove(index)
        })
    }

    /// Removes events that belong to a wait which was removed from the code.
    pub(super) fn reserve(&mut self, events: &[RecordNumber]) {
        for event in events {
            if self.take_number(*event).is_none() {
                self.reserved.insert(*event);
            }
        }
    }

    pub(super) fn wait(&mut self, op: OpId, wait: WaitCall) {
        let is_buffered = |name| {
            self.buffered
                .get(name)
                .is_some_and(|events| !events.is_empty())
        };
        if wait.at_once || wait.names.iter().any(is_buffered) {
            self.matches.push_back(op);
        }
        self.waits.insert(op, wait);
    }

    /// Ends a wait without an event.
    pub(super) fn forget(&mut self, op: OpId) {
        self.waits.remove(&op);
    }
}
