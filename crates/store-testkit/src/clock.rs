//! A clock that only moves when a test moves it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use everstep_model::Timestamp;
use everstep_store::Clock;

/// The time at which a [`TestClock`] starts: 2027-01-15 UTC.
pub const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A clock that is set by hand. Tests with virtual time use `everstep::testing::VirtualRuntime`,
/// whose clock follows the timers of the test.
#[derive(Debug)]
pub struct TestClock(AtomicU64);

impl TestClock {
    /// Creates a clock that shows [`START`].
    #[must_use]
    pub fn new() -> Self {
        Self::at(START)
    }

    /// Creates a clock that shows this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicU64::new(time.as_millis()))
    }

    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub fn set(&self, time: Timestamp) {
        self.0.store(time.as_millis(), Ordering::SeqCst);
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
