//! The outcomes of each node's last commits, so that a commit that is sent again gets its original
//! outcome.

use std::collections::BTreeMap;

use everstep_model::NodeId;

use crate::commit::{Commit, CommitId};
use crate::outcome::{Outcome, Refusal};

#[derive(Default)]
pub(super) struct Answers(BTreeMap<NodeId, Answered>);

#[derive(Default)]
struct Answered {
    /// Lower numbers are not sent again.
    from: u64,
    outcomes: BTreeMap<u64, Outcome>,
}

impl Answers {
    /// Discards outcomes that the sender of this batch no longer needs.
    pub(super) fn begin(&mut self, batch: &[Commit]) {
        let Some(CommitId { node, number }) = batch.iter().find_map(Commit::id) else {
            return;
        };
        let answered = self.0.entry(node).or_default();
        if number > answered.from {
            answered.from = number;
            answered.outcomes = answered.outcomes.split_off(&number);
        }
    }

    /// Returns the outcome of a commit that was sent before; `None` if the commit is new.
    pub(super) fn of(&self, id: CommitId) -> Option<Outcome> {
        let answered = self.0.get(&id.node)?;
        if id.number < answered.from {
            return Some(Outcome::Refused(Refusal::OutOfOrder));
        }
        answered.outcomes.get(&id.number).cloned()
    }

    pub(super) fn keep(&mut self, id: CommitId, outcome: Outcome) {
        let answered = self.0.entry(id.node).or_default();
        answered.outcomes.insert(id.number, outcome);
    }

    pub(super) fn forget(&mut self, node: NodeId) {
        self.0.remove(&node);
    }
}
