//! Processor time of the whole process, all threads, user and system.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How much processor time this process has used so far.
pub(super) fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}
