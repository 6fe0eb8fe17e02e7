//! Moments in a copy: what took effect before it was durable takes effect at the same moment in the
//! copy.
//!
//! If the copy lacks the record right before a moment, everything that can happen at that position
//! comes first, as in the original. Several moments at one position keep their order.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::Body;

use super::kept::{Kept, Numbers};
use crate::moment::Moment;

/// Maps moments of the original to moments of the copy.
pub(super) struct Moments(BTreeMap<Moment, Moment>);

impl Moments {
    pub(super) fn of(kept: &[Kept], numbers: &Numbers) -> Self {
        let bodies = kept.iter().map(|kept| &kept.record.body);
        let in_order: BTreeSet<Moment> = bodies.filter_map(Moment::before).collect();
        let mut copied: BTreeMap<Moment, Moment> = BTreeMap::new();
        for old in in_order {
            let folded = numbers.position_of(old.folded);
            let last = copied.last_key_value().map(|(_, new)| *new);
            let number = match last.filter(|last| last.folded == folded) {
                Some(last) => last.number + 1,
                None if old.number == 0 && numbers.has_before(old.folded) => 0,
                None => 1,
            };
            copied.insert(old, Moment { folded, number });
        }
        Self(copied)
    }

    /// Replaces the moment that a record stores.
    pub(super) fn keep(&self, body: &mut Body) {
        let new = Moment::before(body).and_then(|old| self.0.get(&old));
        let Some(Moment { folded, number }) = new.copied() else {
            return;
        };
        match body {
            Body::LoopAdvanced(record) => (record.folded, record.moment) = (folded, number),
            Body::StepCompleted(record) => {
                if let Some(early) = &mut record.early {
                    (early.folded, early.moment) = (folded, number);
                }
            }
            _ => {}
        }
    }
}
