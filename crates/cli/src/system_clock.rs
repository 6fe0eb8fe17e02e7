//! The clock of the machine, for stores that are opened here.

use std::time::SystemTime;

use everstep_model::Timestamp;
use everstep_store::Clock;

/// The system's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}
