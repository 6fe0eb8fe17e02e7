//! Processor time of the whole process, all threads, or of this thread alone; user and system.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How much processor time this process has used so far.
pub(super) fn used() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// How much of it this thread has used.
pub(super) fn used_by_this_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}
