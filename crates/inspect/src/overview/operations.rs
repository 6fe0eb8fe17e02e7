//! Operations that are not steps: opening and closing them, and forgetting what compaction dropped.

use everstep_model::{Location, RecordNumber, RecordRange, StepStatus};

use super::fold::{Overview, Stamp};
use super::place::{Kind, Place};

impl Overview {
    /// Registers an operation that is not a step. Returns whether it is open: its location is new,
    /// and the run is not about to end.
    pub(super) fn opens(&mut self, at: Stamp, location: &Location) -> bool {
        if self.places.contains_key(location) {
            return false;
        }
        let place = Place {
            first: at.number,
            kind: Kind::Other,
        };
        self.places.insert(location.clone(), place);
        self.ending.is_none()
    }

    pub(super) fn is_other_than_a_step(&self, location: &Location) -> bool {
        let place = self.places.get(location);
        place.is_some_and(|place| place.kind == Kind::Other)
    }

    /// Whether an operation other than a step is open at this location.
    pub(crate) fn is_open(&self, location: &Location) -> bool {
        let waits = self.waits.iter().map(|wait| &wait.location);
        let sleeps = self.sleeps.iter().map(|sleep| &sleep.location);
        let rpcs = self.rpcs.iter().map(|rpc| &rpc.location);
        let children = self.children.iter().map(|child| &child.location);
        let mut open = waits.chain(sleeps).chain(rpcs).chain(children);
        open.any(|open| open == location)
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
        self.places.retain(|_, place| !is_gone(place.first));
        self.events.retain(|event| !is_gone(event.number));
        let places = std::mem::take(&mut self.places);
        self.steps
            .retain(|step| places.contains_key(&step.location));
        self.close_where(|location| !places.contains_key(location));
        self.places = places;
        self.index_steps();
    }

    fn index_steps(&mut self) {
        (self.in_flight, self.in_backoff) = (0, 0);
        for (position, step) in self.steps.iter().enumerate() {
            if let Some(place) = self.places.get_mut(&step.location)
                && let Kind::Step { index, .. } = &mut place.kind
            {
                *index = position;
            }
            self.in_flight += usize::from(step.status == StepStatus::Running);
            self.in_backoff += usize::from(step.status == StepStatus::Retrying);
        }
    }
}
