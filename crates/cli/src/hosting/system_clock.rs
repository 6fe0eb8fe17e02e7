//! The clock of this machine, for stores.

use std::time::SystemTime;

use everstep_model::Timestamp;
use everstep_store::Clock;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}
