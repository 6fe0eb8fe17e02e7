//! Back-off at growing intervals while the server cannot be reached. All connectors of a store
//! share it, so one successful connection ends it for all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::time::Instant;

const DELAY_MIN: Duration = Duration::from_millis(50);
const DELAY_MAX: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Backoff(Mutex<State>);

#[derive(Default)]
struct State {
    /// Why the server could not be reached, and the time of the next attempt.
    failed: Option<(StoreError, Instant)>,
    delay: Duration,
    last_connected: Option<Instant>,
}

impl Backoff {
    /// Returns the last error if no attempt may be made yet.
    pub(crate) fn check(&self, now: Instant) -> Option<StoreError> {
        let state = self.state();
        let (error, until) = state.failed.as_ref()?;
        (now < *until).then(|| error.clone())
    }

    pub(crate) fn connected(&self, now: Instant) {
        *self.state() = State {
            last_connected: Some(now),
            ..State::default()
        };
    }

    /// Delays the next attempt after one that began at `begun` has failed. The failure is ignored
    /// if another attempt has succeeded since.
    pub(crate) fn failed(&self, begun: Instant, now: Instant, error: &StoreError) {
        let mut state = self.state();
        if state.last_connected.is_some_and(|last| begun <= last) {
            return;
        }
        state.delay = (state.delay * 2).clamp(DELAY_MIN, DELAY_MAX);
        state.failed = Some((error.clone(), now + state.delay));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
