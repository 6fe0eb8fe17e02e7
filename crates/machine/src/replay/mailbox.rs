//! Events that came, and waits that want them: first in, first out per name.

use std::collections::{HashMap, VecDeque};

use everstep_model::{Name, RecordNumber};

use super::operation::{EventTaken, OpId};

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    buffered: HashMap<Name, VecDeque<EventTaken>>,
    waits: HashMap<Name, VecDeque<OpId>>,
    /// Names for which a wait was called while events were kept.
    matches: VecDeque<Name>,
}

impl Mailbox {
    /// An event came: the wait that gets it, or none if it is kept.
    pub(super) fn deliver(&mut self, event: EventTaken) -> Option<(OpId, EventTaken)> {
        let waiting = self
            .waits
            .get_mut(&event.name)
            .and_then(VecDeque::pop_front);
        match waiting {
            Some(op) => Some((op, event)),
            None => {
                self.buffered
                    .entry(event.name.clone())
                    .or_default()
                    .push_back(event);
                None
            }
        }
    }

    /// A wait that gets an event kept for it. An event is handed out only when its wait is about to see it, so that a
    /// wait which is given up before that takes none with it.
    pub(super) fn next_match(&mut self) -> Option<(OpId, EventTaken)> {
        while let Some(name) = self.matches.pop_front() {
            let kept = self.buffered.get_mut(&name).filter(|kept| !kept.is_empty());
            let waiting = self.waits.get_mut(&name).and_then(VecDeque::pop_front);
            match (waiting, kept) {
                (Some(op), Some(kept)) => return kept.pop_front().map(|event| (op, event)),
                (Some(op), None) => self.waits.entry(name).or_default().push_front(op),
                (None, _) => {}
            }
        }
        None
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

    pub(super) fn wait(&mut self, name: Name, op: OpId) {
        if self
            .buffered
            .get(&name)
            .is_some_and(|kept| !kept.is_empty())
        {
            self.matches.push_back(name.clone());
        }
        self.waits.entry(name).or_default().push_back(op);
    }

    /// The wait is over without an event.
    pub(super) fn forget(&mut self, op: OpId) {
        for waiting in self.waits.values_mut() {
            waiting.retain(|other| *other != op);
        }
    }
}
