//! The timers of the near future, in the order in which they are due.
//!
//! Timers are due by the wall clock. When it is set back, those that were set before are due by the
//! monotonic clock instead, so that they fire when their time has passed. A timer that is known by
//! both clocks fires once, because that deletes its row.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_model::planted::{self, Bug};
use everstep_model::record::TimerPurpose;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::TimerRow;
use tokio::sync::Notify;

use crate::commit::TimerSink;
use crate::lock::lock;
use crate::runtime::Runtime;

/// How far the wall clock may fall behind the monotonic clock without having been set back.
const TOLERANCE: Duration = Duration::from_secs(5);

pub(crate) struct TimerQueue {
    clock: Arc<dyn Runtime>,
    state: Mutex<State>,
    changed: Notify,
}

/// The wall clock was set back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SetBack {
    /// The time that the wall clock would show, and the monotonic time then.
    pub(super) expected: Timestamp,
    elapsed: Duration,
    /// The timers due up to this time were in memory.
    pub(super) known_until: Timestamp,
}

impl SetBack {
    /// Returns when a timer that was set before is due by the monotonic clock.
    fn due(self, timer: &TimerRow) -> Duration {
        self.elapsed + self.expected.until(timer.due)
    }
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
    /// The latest reading of both clocks at which the wall clock had not fallen behind.
    seen: Option<(Timestamp, Duration)>,
    /// Timers by their monotonic due time: those that were set before the clock was set back, and
    /// those that could not be fired at first.
    earlier: BTreeSet<(Duration, TimerRow)>,
    /// Set until the earlier timers that were not in memory are read.
    set_back: Option<SetBack>,
    /// Whether [`TimerQueue::take_set_back`] has returned it.
    is_taken: bool,
    /// The timers that were set since then.
    later: HashSet<TimerRow>,
}

/// Returns when a timer fires: at its time, never before.
fn fires_at(timer: &TimerRow) -> Timestamp {
    let early = u64::from(planted::is(Bug::TimerEarly));
    Timestamp::from_millis(timer.due.as_millis().saturating_sub(early))
}

impl TimerSink for TimerQueue {
    fn timer_set(&self, timer: TimerRow) {
        let mut state = lock(&self.state);
        if state.compare_clocks(&*self.clock) {
            self.signal();
        }
        if state.set_back.is_some() {
            state.later.insert(timer.clone());
        }
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
    pub(crate) fn new(clock: Arc<dyn Runtime>) -> Self {
        Self {
            clock,
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Compares the clocks. If the wall clock was set back, returns that once, so that the caller
    /// passes the timers that were set before to [`Self::add_earlier`].
    pub(super) fn take_set_back(&self) -> Option<SetBack> {
        let mut state = lock(&self.state);
        state.compare_clocks(&*self.clock);
        let is_taken = std::mem::replace(&mut state.is_taken, true);
        state.set_back.filter(|_| !is_taken)
    }

    /// Adds timers from the store that were set before the clock was set back, unless it was set
    /// back again.
    pub(super) fn add_earlier(&self, timers: Vec<TimerRow>, set_back: SetBack) {
        let mut state = lock(&self.state);
        if state.set_back != Some(set_back) {
            return;
        }
        state.set_back = None;
        let later = std::mem::take(&mut state.later);
        let earlier = timers.into_iter().filter(|timer| !later.contains(timer));
        let earlier = earlier.map(|timer| (set_back.due(&timer), timer));
        state.earlier.extend(earlier);
        self.signal();
    }

    /// Lets a timer fire again after this time, by the monotonic clock. Its time may be distant by
    /// the wall clock, which may have been set back.
    pub(super) fn retry(&self, timer: TimerRow, delay: Duration) {
        let due = self.clock.elapsed() + delay;
        lock(&self.state).earlier.insert((due, timer));
        self.signal();
    }

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
        let elapsed = self.clock.elapsed();
        while state.earlier.first().is_some_and(|(at, _)| *at <= elapsed) {
            due.extend(state.earlier.pop_first().map(|(_, timer)| timer));
        }
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

    /// Returns the time until the next timer that is due by the monotonic clock.
    pub(super) fn earlier_left(&self) -> Option<Duration> {
        let state = lock(&self.state);
        let (due, _) = state.earlier.first()?;
        Some(due.saturating_sub(self.clock.elapsed()))
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
    /// Compares the clocks. If the wall clock was set back, the timers in memory are due by the
    /// monotonic clock from now on. Returns whether that is so.
    fn compare_clocks(&mut self, clock: &dyn Runtime) -> bool {
        let (now, elapsed) = (clock.now(), clock.elapsed());
        let Some((at, since)) = self.seen else {
            self.seen = Some((now, elapsed));
            return false;
        };
        // Rounded down, so that no timer is early.
        let passed = elapsed.saturating_sub(since).as_millis();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let expected = Timestamp::from_millis(at.as_millis().saturating_add(passed));
        if expected <= now {
            self.seen = Some((now, elapsed));
            return false;
        }
        if now.until(expected) <= TOLERANCE {
            return false;
        }
        self.seen = Some((now, elapsed));
        let set_back = SetBack {
            expected,
            elapsed,
            known_until: self.loaded_until,
        };
        let near = std::mem::take(&mut self.near).into_iter();
        let earlier = near.map(|timer| (set_back.due(&timer), timer));
        self.earlier.extend(earlier);
        (self.set_back, self.is_taken) = (Some(set_back), false);
        self.later.clear();
        self.loaded_until = Timestamp::default();
        self.stale = true;
        true
    }

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
    use everstep_store::Clock;

    use super::*;
    use crate::simulation::VirtualRuntime;

    fn timer(stream: u64, due: u64) -> TimerRow {
        TimerRow {
            due: Timestamp::from_millis(due),
            stream: StreamNumber(stream),
            purpose: TimerPurpose::Sleep,
            location: None,
        }
    }

    fn queue() -> (TimerQueue, Arc<VirtualRuntime>) {
        let clock = Arc::new(VirtualRuntime::new(0));
        (TimerQueue::new(clock.clone()), clock)
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_set_while_earlier_timers_are_read_keeps_its_wall_clock_due_time() {
        let (queue, clock) = queue();
        let base = clock.now().as_millis();
        let hour = Duration::from_secs(3_600);
        assert_eq!(queue.take_set_back(), None);
        clock.set_clock_error(-3_600_000);
        let set_back = queue.take_set_back().unwrap();
        let (earlier, later) = (timer(1, base + 7_200_000), timer(2, base + 7_200_000));
        queue.timer_set(later.clone());
        queue.add_earlier(vec![earlier.clone(), later], set_back);
        assert_eq!(queue.take_set_back(), None);
        assert_eq!(queue.earlier_left(), Some(2 * hour));
        tokio::time::advance(2 * hour).await;
        assert_eq!(queue.take_due(clock.now()), [earlier]);
        assert_eq!(queue.earlier_left(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_could_not_be_fired_is_due_again_although_it_is_distant() {
        let (queue, clock) = queue();
        let timer = timer(1, clock.now().as_millis() + 7_200_000);
        let delay = Duration::from_secs(10);
        queue.retry(timer.clone(), delay);
        assert_eq!(queue.take_due(clock.now()), []);
        assert_eq!(queue.earlier_left(), Some(delay));
        tokio::time::advance(delay).await;
        assert_eq!(queue.take_due(clock.now()), [timer]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_timers_of_an_ignored_run_are_loaded_only_afterwards() {
        let at = Timestamp::from_millis;
        let (queue, read) = (queue().0, [timer(1, 5), timer(2, 6)]);
        queue.ignore_until(StreamNumber(1), at(100));
        for (now, expected) in [(10, &read[1..]), (99, &read[1..]), (100, &read[..])] {
            queue.load(read.to_vec(), at(now), 10);
            assert_eq!(queue.take_due(at(now)), expected, "at {now}");
        }
    }
}
