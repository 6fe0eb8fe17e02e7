//! Measures how much of recent commit calls the server spent working, as opposed to waiting for the
//! disk and the network.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The calls that are remembered.
const CALLS: usize = 16;

/// The last column of a call that commits: the microseconds that its function took. What comes
/// before it, to read the arguments, and after it, to commit, counts as waiting.
pub(crate) const WORKED: &str =
    "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint";

#[derive(Default)]
pub(crate) struct Pace(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    last: [Call; CALLS],
    /// How many there were.
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Call {
    worked: Duration,
    waited: Duration,
}

impl Pace {
    /// A call took so long, of which the server has worked so long. Answers that were found
    /// together seem to have taken no time, and say nothing.
    pub(crate) fn note(&self, took: Duration, worked: Duration) {
        let Some(waited) = took.checked_sub(worked) else {
            return;
        };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = calls.count % CALLS;
        calls.count += 1;
        if let Some(call) = calls.last.get_mut(place) {
            *call = Call { worked, waited };
        }
    }

    /// Whether calls are mostly work. Of the work, the median counts, because some call may have
    /// waited for a lock. Of the waiting, the least does: on a busy machine everything waits for a
    /// processor, too, and that is no reason to ask more of it.
    pub(crate) fn is_mostly_work(&self) -> bool {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worked = calls.last.map(|call| call.worked);
        let (_, median, _) = worked.select_nth_unstable(CALLS / 2);
        let least = calls.last.iter().map(|call| call.waited).min();
        calls.count >= CALLS && least.is_some_and(|least| *median >= least * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(calls: impl Iterator<Item = (u64, u64)>) -> Pace {
        let pace = Pace::default();
        for (took, worked) in calls {
            pace.note(Duration::from_micros(took), Duration::from_micros(worked));
        }
        pace
    }

    #[test]
    fn a_sync_that_is_longer_than_half_the_work_makes_calls_mostly_waiting() {
        assert!(pace((0..16).map(|_| (1_200, 800))).is_mostly_work());
        assert!(!pace((0..16).map(|_| (1_201, 800))).is_mostly_work());
    }

    #[test]
    fn waiting_for_a_processor_now_and_then_does_not_count() {
        let busy = (0..16).map(|n| if n == 3 { (1_000, 800) } else { (5_000, 800) });
        assert!(pace(busy).is_mostly_work());
    }

    #[test]
    fn waiting_for_a_lock_now_and_then_is_no_work() {
        let locked = (0..16).map(|n| match n {
            3 => (200_500, 200_000),
            _ => (600, 100),
        });
        assert!(!pace(locked).is_mostly_work());
    }

    #[test]
    fn only_the_last_calls_count_and_few_say_nothing() {
        assert!(!pace((0..15).map(|_| (800, 800))).is_mostly_work());
        let slow_then_quick = (0..32).map(|n| if n < 16 { (9_000, 10) } else { (900, 800) });
        assert!(pace(slow_then_quick).is_mostly_work());
    }

    #[test]
    fn answers_that_are_found_together_say_nothing() {
        let pairs = (0..32).map(|n| if n % 2 == 0 { (2_000, 800) } else { (5, 800) });
        assert!(!pace(pairs).is_mostly_work());
    }
}
