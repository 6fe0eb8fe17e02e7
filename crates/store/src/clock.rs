//! Injected time: the engine's clock for timestamps and timers, and the store's own clock for
//! leases and guards.

use std::time::SystemTime;

use everstep_model::Timestamp;

/// A source of time. Engines read the system clock; tests and simulations use a virtual one.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}
