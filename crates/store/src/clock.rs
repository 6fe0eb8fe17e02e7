//! Time, injected: the engine's clock for timestamps and timers, and the store's own for leases.

use everstep_model::Timestamp;

/// Says what time it is. Real engines read the system clock, tests and simulations a virtual one.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;
}
