//! Timers: the near future in memory, the rest in the store. A timer fires by one commit that appends its record and
//! removes its row, so it fires once, whoever polls, and never early.

use std::collections::{BTreeSet, HashSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use everstep_model::record::{DeadlinePassed, TimerFired, TimerPurpose};
use everstep_model::{Body, Record, RpcId, StreamNumber, Timestamp};
use everstep_store::{
    Author, Commit, Guard, Head, Outcome, RowKey, StoreError, StreamRef, Target, TimerQuery,
    TimerRow,
};
use futures_util::future::{Either, join_all, select};

use crate::core::{Core, Effects};
use crate::runtime::sleep_until;

/// Timers read from the store at once.
const PAGE: usize = 10_000;
/// Heads of due timers read from the store at once.
const HEADS_AT_ONCE: usize = 256;

#[derive(Default)]
pub(crate) struct TimerQueue(Mutex<State>);

#[derive(Default)]
struct State {
    near: BTreeSet<TimerRow>,
    /// Everything due up to here is in `near`.
    loaded_until: Timestamp,
    /// Something may be missing in `near` all the same.
    stale: bool,
    waker: Option<Waker>,
    changed: bool,
}

impl TimerQueue {
    /// A timer was set by a commit of this node.
    pub(crate) fn add(&self, timer: TimerRow) {
        let mut state = self.state();
        if timer.due > state.loaded_until {
            return;
        }
        let first = state.near.first().is_none_or(|first| timer.due < first.due);
        state.near.insert(timer);
        if first {
            state.signal();
        }
    }

    /// Some node set a timer: if it is near and not known here, the store is read again.
    pub(crate) fn hint(&self, due: Timestamp) {
        let mut state = self.state();
        if due <= state.loaded_until && !state.knows(due) {
            state.stale = true;
            state.signal();
        }
    }

    /// Reading failed: it is to be done again.
    fn set_stale(&self) {
        self.state().stale = true;
    }

    fn take_stale(&self) -> bool {
        std::mem::take(&mut self.state().stale)
    }

    /// Wakes the timer task, for instance to let it end.
    pub(crate) fn signal(&self) {
        self.state().signal();
    }

    fn take_due(&self, now: Timestamp) -> Vec<TimerRow> {
        let mut state = self.state();
        let mut due = Vec::new();
        while state.near.first().is_some_and(|first| first.due <= now) {
            due.extend(state.near.pop_first());
        }
        due
    }

    /// Takes over what was read, keeping at most `limit` in memory.
    fn load(&self, timers: Vec<TimerRow>, until: Timestamp, limit: usize) {
        let mut state = self.state();
        state.loaded_until = state.loaded_until.max(until);
        state.near.extend(timers);
        while state.near.len() > limit {
            if let Some(last) = state.near.pop_last() {
                state.loaded_until = Timestamp::from_millis(last.due.as_millis().saturating_sub(1));
            }
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.state().near.first().map(|first| first.due)
    }

    fn len(&self) -> usize {
        self.state().near.len()
    }

    fn loaded_until(&self) -> Timestamp {
        self.state().loaded_until
    }

    fn poll_changed(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if std::mem::take(&mut state.changed) {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether a timer is due at exactly this time.
    fn knows(&self, due: Timestamp) -> bool {
        let first = TimerRow {
            due,
            stream: StreamNumber(0),
            purpose: TimerPurpose::Sleep,
            location: None,
        };
        let next = self.near.range(first..).next();
        next.is_some_and(|timer| timer.due == due)
    }

    fn signal(&mut self) {
        self.changed = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Core {
    /// The timer task.
    pub(crate) async fn run_timers(self: Arc<Self>) {
        while !self.is_closing() {
            if let Err(error) = self.load_timers().await {
                tracing::error!(%error, "timers could not be read");
                self.timers.set_stale();
                self.rest(self.settings.lease_ttl).await;
                continue;
            }
            let due = self.timers.take_due(self.runtime.now());
            for timers in due.chunks(HEADS_AT_ONCE) {
                self.fire(timers).await;
            }
            let sleep = std::pin::pin!(sleep_until(&*self.runtime, self.wake_at()));
            let changed = std::pin::pin!(poll_fn(|context| self.timers.poll_changed(context)));
            match select(sleep, changed).await {
                Either::Left(_) | Either::Right(_) => {}
            }
        }
    }

    /// When the timer task has something to do. Memory that is full is not refilled before timers have fired.
    fn wake_at(&self) -> Timestamp {
        let refresh_at = self.refresh_at();
        match self.timers.next_due() {
            Some(due) if self.is_full() => due,
            Some(due) => due.min(refresh_at),
            None => refresh_at,
        }
    }

    fn is_full(&self) -> bool {
        self.timers.len() > self.timers_max() / 2
    }

    fn timers_max(&self) -> usize {
        self.settings.timers_in_memory_max.max(1)
    }

    /// When to read on: half a horizon before the known future ends.
    fn refresh_at(&self) -> Timestamp {
        let margin = self.settings.timer_horizon.as_millis() / 2;
        let known = self.timers.loaded_until().as_millis();
        Timestamp::from_millis(known.saturating_sub(u64::try_from(margin).unwrap_or(u64::MAX)))
    }

    /// Reads timers up to the horizon, unless enough of the future is known or memory is full of it.
    async fn load_timers(&self) -> Result<(), StoreError> {
        let now = self.runtime.now();
        let is_enough = self.refresh_at() > now || self.is_full();
        if !self.timers.take_stale() && is_enough {
            return Ok(());
        }
        let until = now.after(self.settings.timer_horizon);
        let mut after = None;
        loop {
            let query = TimerQuery {
                until,
                after: after.clone(),
                limit: PAGE,
            };
            // The future counts as known before it is read, so that timers set meanwhile are not missed.
            self.timers.load(Vec::new(), until, self.timers_max());
            let page = self.store.timers(query).await?;
            after = page.last().cloned();
            let is_last = page.len() < PAGE;
            self.timers.load(page, until, self.timers_max());
            if is_last || self.timers.loaded_until() < until {
                return Ok(());
            }
        }
    }

    /// Fires timers in the order given: their commits are queued one after the other, and nobody waits in between.
    async fn fire(self: &Arc<Self>, timers: &[TimerRow]) {
        let heads = timers
            .iter()
            .map(|timer| self.store.head(StreamRef::Number(timer.stream)));
        let heads = join_all(heads).await;
        let mut failed = HashSet::new();
        for (timer, head) in timers.iter().zip(heads) {
            // What comes later in a run does not overtake what is tried again.
            if failed.contains(&timer.stream) {
                self.fire_later(timer.clone());
                continue;
            }
            match head {
                Ok(Some(head)) => self.submit_firing(timer.clone(), &head),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, stream = %timer.stream, "a timer's run could not be read; it is tried again");
                    failed.insert(timer.stream);
                    self.fire_later(timer.clone());
                }
            }
        }
    }

    fn submit_firing(self: &Arc<Self>, timer: TimerRow, head: &Head) {
        let commit = self.firing(&timer, head);
        let run = head.run.as_ref();
        let effects = run.map(|run| Effects::of(&run.id, &commit, Vec::new()));
        let core = self.clone();
        let reply = move |outcome: Result<Outcome, StoreError>| core.fired(timer, effects, outcome);
        self.committer.submit(commit, Box::new(reply));
    }

    /// Called by the committer once the outcome is known.
    fn fired(
        self: &Arc<Self>,
        timer: TimerRow,
        effects: Option<Effects>,
        outcome: Result<Outcome, StoreError>,
    ) {
        match outcome {
            Ok(Outcome::Committed { taken, .. }) => {
                if let Some(effects) = effects {
                    self.committed(timer.stream, effects);
                }
                self.woken(timer.stream, taken);
            }
            // Cancelled, fired by another node, or the run is over.
            Ok(Outcome::Refused(_) | Outcome::Duplicate { .. }) => {}
            Err(_) if self.is_closing() => {}
            Err(error) => {
                tracing::error!(%error, stream = %timer.stream, "a timer could not be fired; it is tried again");
                self.fire_later(timer);
            }
        }
    }

    fn fire_later(self: &Arc<Self>, timer: TimerRow) {
        let core = self.clone();
        self.spawn(Box::pin(async move {
            core.rest(core.settings.lease_ttl).await;
            core.timers.add(timer);
        }));
    }

    fn firing(&self, timer: &TimerRow, head: &Head) -> Commit {
        let now = self.runtime.now();
        let key = RowKey::Timer(timer.clone());
        let mut commit = Commit::new(Target::Stream(timer.stream), Author::Inbox, now);
        commit.guards.push(Guard::RowPresent(key.clone()));
        commit.delete.push(key);
        commit.ready = Some(true);
        let body: Body = match timer.purpose {
            TimerPurpose::Deadline => DeadlinePassed {
                deadline: timer.due,
            }
            .into(),
            TimerPurpose::Sleep
            | TimerPurpose::Wait
            | TimerPurpose::Rpc
            | TimerPurpose::Retry
            | TimerPurpose::ExecutionRetry
            | TimerPurpose::Child
            | TimerPurpose::Undo => TimerFired {
                purpose: timer.purpose,
                location: timer.location.clone(),
                due: timer.due,
            }
            .into(),
        };
        commit.records.push(Record { time: now, body });
        if let Some(run) = &head.run {
            // An rpc that gave up takes no answer from this commit on.
            if let (TimerPurpose::Rpc, Some(location)) = (timer.purpose, &timer.location) {
                let id = RpcId::of(&run.id, run.generation, location);
                commit.delete.push(RowKey::Rpc(timer.stream, id));
            }
            if self.worker(&run.workflow, run.version).is_some() && !self.is_closing() {
                commit.lease = self.take();
            }
        }
        commit
    }
}
