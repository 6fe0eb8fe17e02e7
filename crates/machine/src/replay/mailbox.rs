//! Events that came, and waits that want them: first in, first out per name.

use std::collections::{HashMap, VecDeque};

use everstep_model::{Name, RecordNumber};

use super::operation::{EventTaken, OpId};

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    buffered: HashMap<Name, VecDeque<EventTaken>>,
    waits: HashMap<Name, VecDeque<OpId>>,
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

    /// The oldest kept event of that name.
    pub(super) fn take(&mut self, name: &Name) -> Option<EventTaken> {
        self.buffered.get_mut(name)?.pop_front()
    }

    /// A kept event by its record, as a recorded wait names it.
    pub(super) fn take_number(&mut self, number: RecordNumber) -> Option<EventTaken> {
        self.buffered.values_mut().find_map(|kept| {
            let index = kept.iter().position(|event| event.number == number)?;
            kept.remove(index)
        })
    }

    pub(super) fn wait(&mut self, name: Name, op: OpId) {
        self.waits.entry(name).or_default().push_back(op);
    }

    /// The wait is over without an event.
    pub(super) fn forget(&mut self, op: OpId) {
        for waiting in self.waits.values_mut() {
            waiting.retain(|other| *other != op);
        }
    }
}
