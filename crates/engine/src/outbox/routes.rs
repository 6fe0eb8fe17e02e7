//! The order of effects: those of one run on another share a route and keep their order. Routes are
//! independent of each other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use everstep_model::{RunId, StreamNumber};
use everstep_store::OutboxRow;

use crate::commit::projection::Effect;

/// The number of routes that are delivered at the same time.
const ROUTES_AT_ONCE: usize = 256;

/// The delay after the first failure of a route. It doubles with each further failure.
const DELAY: Duration = Duration::from_millis(500);
const DELAY_MAX: Duration = Duration::from_secs(30);

/// The journal that caused an effect and the run that it affects. Effects that this release cannot
/// decode share a route.
pub(super) type Route = (StreamNumber, Option<RunId>);

/// An effect that waits for delivery.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) stream: StreamNumber,
    pub(super) key: String,
    /// `None` if this release cannot decode it.
    pub(super) effect: Option<Effect>,
    /// Whether this node wrote it and has not published a hint yet.
    is_new: bool,
    /// The number of failed deliveries.
    failures: u32,
}

impl Waiting {
    /// Counts a failed delivery, and returns the delay before the next one.
    pub(super) fn failed(&mut self) -> Duration {
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        DELAY.saturating_mul(1 << doublings).min(DELAY_MAX)
    }

    /// Returns whether another node may have delivered it meanwhile.
    pub(super) fn may_be_delivered(&self) -> bool {
        self.failures > 0 || !self.is_new
    }

    /// Returns true once if this node wrote it and has not published a hint.
    pub(super) fn take_is_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    pub(super) fn key(&self) -> (StreamNumber, String) {
        (self.stream, self.key.clone())
    }
}

/// The effects that this node knows.
#[derive(Default)]
pub(super) struct Routes {
    waiting: HashMap<Route, VecDeque<Waiting>>,
    /// Routes with something to deliver, in order of arrival.
    due: VecDeque<Route>,
    /// Routes that are due, being delivered, or delayed after a failure.
    active: HashSet<Route>,
    delivering: usize,
    /// All effects of this node, so that a sweep does not add one twice.
    known: HashSet<(StreamNumber, String)>,
}

impl Routes {
    /// Adds effects that are not known yet.
    pub(super) fn add(&mut self, rows: Vec<OutboxRow>, is_new: bool) {
        for row in rows {
            let waiting = Waiting {
                effect: Effect::from_payload(&row.effect),
                stream: row.stream,
                key: row.key,
                is_new,
                failures: 0,
            };
            if self.known.insert(waiting.key()) {
                self.enqueue(waiting);
            }
        }
    }

    /// Appends an effect to its route.
    pub(super) fn enqueue(&mut self, waiting: Waiting) {
        let effect = waiting.effect.as_ref();
        let target = effect.map(|effect| effect.target().clone());
        let route = (waiting.stream, target);
        self.waiting
            .entry(route.clone())
            .or_default()
            .push_back(waiting);
        if self.active.insert(route.clone()) {
            self.due.push_back(route);
        }
    }

    /// Takes the next route to deliver, with its effects.
    pub(super) fn next(&mut self) -> Option<(Route, VecDeque<Waiting>)> {
        if self.delivering >= ROUTES_AT_ONCE {
            return None;
        }
        let route = self.due.pop_front()?;
        self.delivering += 1;
        let waiting = self.waiting.remove(&route).unwrap_or_default();
        Some((route, waiting))
    }

    /// Ends the delivery of a route. Effects that are left are delivered again after a delay.
    /// Returns whether there are any.
    pub(super) fn delivered(&mut self, route: Route, left: VecDeque<Waiting>) -> bool {
        self.delivering -= 1;
        let is_delayed = !left.is_empty();
        let queue = self.waiting.entry(route.clone()).or_default();
        for waiting in left.into_iter().rev() {
            queue.push_front(waiting);
        }
        if is_delayed {
            return true;
        }
        if queue.is_empty() {
            self.waiting.remove(&route);
            self.active.remove(&route);
        } else {
            self.due.push_back(route);
        }
        false
    }

    /// Makes a route due again after its delay.
    pub(super) fn resume(&mut self, route: Route) {
        self.due.push_back(route);
    }

    /// Removes effects that are deleted from the store.
    pub(super) fn forget(&mut self, keys: impl IntoIterator<Item = (StreamNumber, String)>) {
        for key in keys {
            self.known.remove(&key);
        }
    }

    /// Returns whether every effect was delivered or has failed once.
    pub(super) fn is_quiet(&self) -> bool {
        self.due.is_empty() && self.delivering == 0
    }
}

#[cfg(test)]
mod tests;
