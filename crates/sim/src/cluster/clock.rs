//! The true time of a simulation.

use everstep_model::Timestamp;
use everstep_store::Clock;

use crate::executor::Executor;

/// The time at which simulations begin: 2026-01-01 UTC.
const START_MILLIS: u64 = 1_767_225_600_000;

/// Converts the microseconds of the executor to a time.
#[must_use]
pub fn true_time(micros: u64) -> Timestamp {
    Timestamp::from_millis(START_MILLIS + micros / 1_000)
}

/// The clock of the store, which is never wrong. It is not a `TestClock` because the executor moves
/// it.
pub(super) struct TrueClock(pub(super) Executor);

impl Clock for TrueClock {
    fn now(&self) -> Timestamp {
        true_time(self.0.now())
    }
}
