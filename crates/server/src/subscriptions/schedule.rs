//! Due times of subscriptions: at most one per subscription, the earliest first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use everstep_model::Timestamp;
use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Schedule {
    times: Mutex<Times>,
    pub(super) changed: Notify,
}

#[derive(Default)]
struct Times {
    by_time: BTreeSet<(Timestamp, String)>,
    by_id: BTreeMap<String, Timestamp>,
}

impl Schedule {
    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the due time of a subscription.
    pub(super) fn set(&self, id: &str, due: Option<Timestamp>) {
        let mut times = self.times();
        if let Some(old) = times.by_id.remove(id) {
            times.by_time.remove(&(old, id.to_owned()));
        }
        if let Some(due) = due {
            times.by_id.insert(id.to_owned(), due);
            times.by_time.insert((due, id.to_owned()));
        }
        drop(times);
        self.changed.notify_one();
    }

    pub(super) fn next(&self) -> Option<Timestamp> {
        self.times().by_time.first().map(|(due, _)| *due)
    }

    /// Removes and returns the subscriptions that are due.
    pub(super) fn take_due(&self, now: Timestamp) -> Vec<String> {
        let mut times = self.times();
        let mut due = Vec::new();
        while times.by_time.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, id)) = times.by_time.pop_first() {
                times.by_id.remove(&id);
                due.push(id);
            }
        }
        due
    }
}
