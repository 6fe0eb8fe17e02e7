//! Back-off while the server cannot be reached, at growing intervals. All connectors of a store
//! share it, so one successful connection ends it for all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_store::StoreError;
use tokio::time::Instant;

/// How long the server is left alone after it could not be reached: at first, and at most.
const REST_MIN: Duration = Duration::from_millis(50);
const REST_MAX: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Rest(Mutex<State>);

#[derive(Default)]
struct State {
    /// Why the server could not be reached, and until when it is left alone.
    failed: Option<(StoreError, Instant)>,
    length: Duration,
    /// When it was reached last.
    reached: Option<Instant>,
}

impl Rest {
    /// Why no connection is tried now, if none is.
    pub(crate) fn refusal(&self, now: Instant) -> Option<StoreError> {
        let state = self.state();
        let (error, until) = state.failed.as_ref()?;
        (now < *until).then(|| error.clone())
    }

    /// The server answers.
    pub(crate) fn end(&self, now: Instant) {
        *self.state() = State {
            reached: Some(now),
            ..State::default()
        };
    }

    /// An attempt that began at `begun` has failed. If the server was reached since, it says
    /// nothing about now.
    pub(crate) fn begin(&self, begun: Instant, now: Instant, error: &StoreError) {
        let mut state = self.state();
        if state.reached.is_some_and(|reached| begun <= reached) {
            return;
        }
        state.length = (state.length * 2).clamp(REST_MIN, REST_MAX);
        state.failed = Some((error.clone(), now + state.length));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> StoreError {
        StoreError::Unavailable {
            detail: "connection refused".to_owned(),
        }
    }

    fn after(begin: Instant, millis: u64) -> Instant {
        begin + Duration::from_millis(millis)
    }

    #[test]
    fn a_server_that_stays_away_is_tried_less_and_less_often() {
        let (rest, begin) = (Rest::default(), Instant::now());
        assert_eq!(rest.refusal(begin), None);
        rest.begin(begin, begin, &refused());
        assert_eq!(rest.refusal(after(begin, 49)), Some(refused()));
        assert_eq!(rest.refusal(after(begin, 50)), None);
        let later = after(begin, 50);
        rest.begin(later, later, &refused());
        assert_eq!(rest.refusal(after(begin, 149)), Some(refused()));
        assert_eq!(rest.refusal(after(begin, 150)), None);
    }

    #[test]
    fn whoever_reaches_the_server_ends_the_rest_for_all() {
        let (rest, begin) = (Rest::default(), Instant::now());
        rest.begin(begin, begin, &refused());
        rest.end(after(begin, 1));
        assert_eq!(rest.refusal(after(begin, 2)), None);
    }

    #[test]
    fn an_attempt_from_before_the_server_was_reached_says_nothing() {
        let (rest, begin) = (Rest::default(), Instant::now());
        rest.end(after(begin, 10));
        rest.begin(begin, after(begin, 20), &refused());
        assert_eq!(rest.refusal(after(begin, 21)), None);
        rest.begin(after(begin, 11), after(begin, 20), &refused());
        assert_eq!(rest.refusal(after(begin, 21)), Some(refused()));
    }
}
