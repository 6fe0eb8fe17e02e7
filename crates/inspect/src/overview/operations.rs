//! Operations that are not steps: opening and closing them, and forgetting what compaction dropped.

use std::collections::BTreeSet;

use everstep_model::{Location, RecordNumber, RecordRange, StepStatus};

use super::fold::{Kind, Overview, Seen, Stamp};

impl Overview {
    /// Registers an operation that is not a step. Returns whether it is open: it is not open
    /// already, and the end of the run has not resolved its operations. A later pass of the
    /// function may open an operation again that was dropped in an earlier one.
    pub(super) fn opens(&mut self, at: Stamp, location: &Location) -> bool {
        if let Some(seen) = self.seen.get(location)
            && (seen.kind != Kind::Other || self.is_open(location))
        {
            return false;
        }
        let operation = Seen {
            first: at.number,
            kind: Kind::Other,
        };
        self.seen.insert(location.clone(), operation);
        !self.ends_operations
    }

    pub(super) fn is_other_than_a_step(&self, location: &Location) -> bool {
        let seen = self.seen.get(location);
        seen.is_some_and(|seen| seen.kind == Kind::Other)
    }

    /// Returns whether an operation other than a step is open at this location.
    pub(crate) fn is_open(&self, location: &Location) -> bool {
        self.open_operations().any(|open| open == location)
    }

    /// Returns the open operations that are not steps.
    fn open_operations(&self) -> impl Iterator<Item = &Location> {
        let waits = self.waits.iter().map(|wait| &wait.location);
        let sleeps = self.sleeps.iter().map(|sleep| &sleep.location);
        let rpcs = self.rpcs.iter().map(|rpc| &rpc.location);
        let children = self.children.iter().map(|child| &child.location);
        waits.chain(sleeps).chain(rpcs).chain(children)
    }

    /// Closes the open operations for which `is_over` holds. Steps are not affected.
    pub(super) fn close_where(&mut self, is_over: impl Fn(&Location) -> bool) {
        self.waits.retain(|wait| !is_over(&wait.location));
        self.sleeps.retain(|sleep| !is_over(&sleep.location));
        self.rpcs.retain(|rpc| !is_over(&rpc.location));
        self.children.retain(|child| !is_over(&child.location));
    }

    /// Forgets dropped records, so that the result does not depend on whether the reader saw them.
    pub(super) fn forget(&mut self, dropped: &[RecordRange]) {
        if dropped.is_empty() {
            return;
        }
        let is_gone = |number: RecordNumber| {
            let mut ranges = dropped.iter();
            ranges.any(|range| (range.first..=range.last).contains(&number))
        };
        self.events.retain(|event| !is_gone(event.number));
        self.keep_operations(|_, seen| !is_gone(seen.first));
    }

    /// The number of operations that are not forgotten.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.seen.len()
    }

    /// Forgets operations that are over, so that following a run takes memory only for what is
    /// open. The status and what is open do not depend on them; `steps` does.
    pub fn forget_ended_operations(&mut self) {
        let steps = self.steps.iter().filter(|step| step.is_open());
        let open = steps.map(|step| step.location.clone());
        let open: BTreeSet<Location> = open.chain(self.open_operations().cloned()).collect();
        self.keep_operations(|location, _| open.contains(location));
        self.undos.forget_arguments();
    }

    fn keep_operations(&mut self, keeps: impl Fn(&Location, &Seen) -> bool) {
        self.seen.retain(|location, seen| keeps(location, seen));
        let mut seen = std::mem::take(&mut self.seen);
        self.steps.retain(|step| seen.contains_key(&step.location));
        self.close_where(|location| !seen.contains_key(location));
        (self.in_flight, self.in_backoff) = (0, 0);
        for (position, step) in self.steps.iter().enumerate() {
            if let Some(seen) = seen.get_mut(&step.location)
                && let Kind::Step { index, .. } = &mut seen.kind
            {
                *index = position;
            }
            self.in_flight += usize::from(step.status == StepStatus::Running);
            self.in_backoff += usize::from(step.status == StepStatus::Retrying);
        }
        self.seen = seen;
    }
}
