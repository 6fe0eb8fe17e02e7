//! Measures how much of recent commit calls the server spent working, as opposed to waiting for the
//! disk and the network.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The number of calls that count.
const CALLS: usize = 16;

/// The last column of a call that commits: the microseconds that its function took. Reading the
/// arguments before it and committing after it count as waiting.
pub(crate) const WORKED: &str =
    "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint";

#[derive(Default)]
pub(crate) struct Pace(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    last: [Call; CALLS],
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Call {
    worked: Duration,
    waited: Duration,
}

impl Pace {
    /// Records how long a call took and how long the server worked on it. Calls whose answers
    /// arrived together with others seem shorter than the work, and are ignored.
    pub(crate) fn record(&self, took: Duration, worked: Duration) {
        let Some(waited) = took.checked_sub(worked) else {
            return;
        };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = calls.count % CALLS;
        calls.count += 1;
        if let Some(call) = calls.last.get_mut(index) {
            *call = Call { worked, waited };
        }
    }

    /// Whether calls are mostly work. The median of the work counts, because single calls may have
    /// waited for a lock, and the minimum of the waiting, because on a busy machine calls also wait
    /// for a processor, which more parallel calls would not improve.
    pub(crate) fn is_mostly_work(&self) -> bool {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worked = calls.last.map(|call| call.worked);
        let (_, median, _) = worked.select_nth_unstable(CALLS / 2);
        let least = calls.last.iter().map(|call| call.waited).min();
        calls.count >= CALLS && least.is_some_and(|least| *median >= least * 2)
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
