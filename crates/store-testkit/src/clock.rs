//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep_model::Timestamp;
use everstep_store::Clock;

/// Where every [`TestClock`] begins.
pub const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A clock moved by hand.
#[derive(Debug)]
pub struct TestClock(AtomicU64);

impl TestClock {
    /// A clock that shows [`START`].
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU64::new(START.as_millis()))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
