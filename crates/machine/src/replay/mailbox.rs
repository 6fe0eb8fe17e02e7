//! Events that came, and waits that want them: first in, first out per name.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use everstep_model::planted::{self, Bug};
use everstep_model::{Name, RecordNumber};

use super::operation::{EventTaken, OpId};

/// What a wait wants.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// An event of any of these names.
    pub(super) names: Vec<Name>,
    /// At most so many at once.
    pub(super) batch: usize,
    /// Whether it gives up at once if none is there.
    pub(super) at_once: bool,
}

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    buffered: HashMap<Name, VecDeque<EventTaken>>,
    /// In the order of calling.
    waits: BTreeMap<OpId, Wanted>,
    /// Events that waits took which the code no longer has.
    reserved: BTreeSet<RecordNumber>,
    /// Waits that were called while events were kept for them, or that do not wait.
    matches: VecDeque<OpId>,
}

impl Mailbox {
    /// An event came: the wait that gets it, or none if it is kept.
    pub(super) fn deliver(&mut self, event: EventTaken) -> Option<(OpId, Vec<EventTaken>)> {
        if self.reserved.remove(&event.number) {
            return None;
        }
        let waiting = self
            .waits
            .iter()
            .find(|(_, wanted)| wanted.names.contains(&event.name))
            .map(|(op, _)| *op);
        match waiting {
            Some(op) => {
                self.waits.remove(&op);
                if planted::is(Bug::EventConsumedTwice) {
                    self.keep(event.clone());
                }
                Some((op, vec![event]))
            }
            None => {
                self.keep(event);
                None
            }
        }
    }

    fn keep(&mut self, event: EventTaken) {
        let kept = self.buffered.entry(event.name.clone()).or_default();
        kept.push_back(event);
    }

    /// A wait that gets events kept for it, or none because it does not wait. Events are handed out only when their
    /// wait is about to see them, so that a wait which is given up before that takes none with it.
    pub(super) fn next_match(&mut self) -> Option<(OpId, Vec<EventTaken>)> {
        while let Some(op) = self.matches.pop_front() {
            let Some(wanted) = self.waits.get(&op).cloned() else {
                continue;
            };
            let taken = self.take_kept(&wanted);
            if wanted.at_once || !taken.is_empty() {
                self.waits.remove(&op);
                return Some((op, taken));
            }
        }
        None
    }

    /// The oldest kept events a wait wants.
    fn take_kept(&mut self, wanted: &Wanted) -> Vec<EventTaken> {
        let mut taken = Vec::new();
        while taken.len() < wanted.batch {
            let oldest = wanted
                .names
                .iter()
                .filter_map(|name| Some((self.buffered.get(name)?.front()?.number, name)))
                .min_by_key(|(number, _)| *number);
            let Some((_, name)) = oldest else { break };
            taken.extend(self.buffered.get_mut(name).and_then(VecDeque::pop_front));
        }
        taken
    }

    /// Whether a wait may get an event kept for it.
    pub(super) fn has_matches(&self) -> bool {
        !self.matches.is_empty()
    }

    /// A kept event by its record, as a recorded wait names it.
    pub(super) fn take_number(&mut self, number: RecordNumber) -> Option<EventTaken> {
        self.buffered.values_mut().find_map(|kept| {
            let index = kept.iter().position(|event| event.number == number)?;
            kept.remove(index)
        })
    }

    /// These were taken by a wait that the code no longer has: nobody else gets them.
    pub(super) fn reserve(&mut self, events: &[RecordNumber]) {
        for event in events {
            if self.take_number(*event).is_none() {
                self.reserved.insert(*event);
            }
        }
    }

    pub(super) fn wait(&mut self, op: OpId, wanted: Wanted) {
        let is_kept = |name| self.buffered.get(name).is_some_and(|kept| !kept.is_empty());
        if wanted.at_once || wanted.names.iter().any(is_kept) {
            self.matches.push_back(op);
        }
        self.waits.insert(op, wanted);
    }

    /// The wait is over without an event.
    pub(super) fn forget(&mut self, op: OpId) {
        self.waits.remove(&op);
    }
}
