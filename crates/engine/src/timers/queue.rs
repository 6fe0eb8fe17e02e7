//! The timers of the near future, in the order in which they are due.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use everstep_model::planted::{self, Bug};
use everstep_model::record::TimerPurpose;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::TimerRow;
use tokio::sync::Notify;

use crate::commit::TimerSink;
use crate::lock::lock;

#[derive(Default)]
pub(crate) struct TimerQueue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    near: BTreeSet<TimerRow>,
    /// All timers due up to this time are in `near`.
    loaded_until: Timestamp,
    /// Whether timers may be missing in `near` nevertheless.
    stale: bool,
    /// Runs that could not be read, and until when their timers are ignored.
    ignored: HashMap<StreamNumber, Timestamp>,
}

/// Returns when a timer fires: at its time, never before.
fn fires_at(timer: &TimerRow) -> Timestamp {
    let early = u64::from(planted::is(Bug::TimerEarly));
    Timestamp::from_millis(timer.due.as_millis().saturating_sub(early))
}

impl TimerSink for TimerQueue {
    fn timer_set(&self, timer: TimerRow) {
        let mut state = lock(&self.state);
        if timer.due > state.loaded_until {
            return;
        }
        let first = state.near.first().is_none_or(|first| timer.due < first.due);
        state.near.insert(timer);
        if first {
            self.signal();
        }
    }
}

impl TimerQueue {
    /// Handles the hint that another node set a timer. If it is near and not loaded, the store is
    /// read again.
    pub(crate) fn hint(&self, due: Timestamp) {
        let mut state = lock(&self.state);
        if due <= state.loaded_until && !state.has_due_at(due) {
            state.stale = true;
            self.signal();
        }
    }

    pub(super) fn set_stale(&self) {
        lock(&self.state).stale = true;
    }

    pub(super) fn take_stale(&self) -> bool {
        std::mem::take(&mut lock(&self.state).stale)
    }

    /// Wakes the timer task, so that it can end.
    pub(crate) fn signal(&self) {
        self.changed.notify_one();
    }

    pub(super) fn take_due(&self, now: Timestamp) -> Vec<TimerRow> {
        let mut state = lock(&self.state);
        let mut due = Vec::new();
        while state
            .near
            .first()
            .is_some_and(|first| fires_at(first) <= now)
        {
            due.extend(state.near.pop_first());
        }
        due
    }

    pub(super) fn extend_until(&self, until: Timestamp) {
        let mut state = lock(&self.state);
        state.loaded_until = state.loaded_until.max(until);
    }

    /// Removes timers that are distant because the clock was set back.
    pub(super) fn unload_after(&self, until: Timestamp) {
        let mut state = lock(&self.state);
        if state.loaded_until > until {
            state.loaded_until = until;
            state.near.retain(|timer| timer.due <= until);
        }
    }

    /// Adds timers that were read, and keeps at most `limit` in memory.
    pub(super) fn load(&self, timers: Vec<TimerRow>, now: Timestamp, limit: usize) {
        let mut state = lock(&self.state);
        state.ignored.retain(|_, until| *until > now);
        let State { near, ignored, .. } = &mut *state;
        near.extend(
            timers
                .into_iter()
                .filter(|timer| !ignored.contains_key(&timer.stream)),
        );
        while state.near.len() > limit {
            if let Some(last) = state.near.pop_last() {
                state.loaded_until = Timestamp::from_millis(last.due.as_millis().saturating_sub(1));
            }
        }
    }

    /// Leaves the timers of a run in the store until this time.
    pub(super) fn ignore_until(&self, stream: StreamNumber, until: Timestamp) {
        lock(&self.state).ignored.insert(stream, until);
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        lock(&self.state).near.first().map(fires_at)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).near.len()
    }

    pub(super) fn loaded_until(&self) -> Timestamp {
        lock(&self.state).loaded_until
    }

    /// Waits until the next timer is due earlier than before, or the task is woken.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl State {
    /// Returns whether a timer is due at exactly this time.
    fn has_due_at(&self, due: Timestamp) -> bool {
        let first = TimerRow {
            due,
            stream: StreamNumber(0),
            purpose: TimerPurpose::Sleep,
            location: None,
        };
        let next = self.near.range(first..).next();
        next.is_some_and(|timer| timer.due == due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(stream: u64, due: u64) -> TimerRow {
        TimerRow {
            due: Timestamp::from_millis(due),
            stream: StreamNumber(stream),
            purpose: TimerPurpose::Sleep,
            location: None,
        }
    }

    #[test]
    fn the_timers_of_an_ignored_run_are_loaded_only_afterwards() {
        let at = Timestamp::from_millis;
        let (queue, read) = (TimerQueue::default(), [timer(1, 5), timer(2, 6)]);
        queue.ignore_until(StreamNumber(1), at(100));
        for (now, expected) in [(10, &read[1..]), (99, &read[1..]), (100, &read[..])] {
            queue.load(read.to_vec(), at(now), 10);
            assert_eq!(queue.take_due(at(now)), expected, "at {now}");
        }
    }
}
