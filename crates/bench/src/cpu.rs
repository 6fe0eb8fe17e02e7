//! Processor time (user and system) of this process or of the current thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time that all threads of this process have used so far.
pub(crate) fn used() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// Processor time that the current thread has used so far.
pub(crate) fn used_by_this_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}
