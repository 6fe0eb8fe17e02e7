//! The task that fires timers. A timer fires by one commit that appends its record and deletes its
//! row, so it fires once, even if several nodes try, and never early.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::record::{DeadlinePassed, TimerFired, TimerPurpose};
use everstep_model::{Body, Record, RpcId, StreamNumber, Timestamp};
use everstep_store::{
    Commit, DeliverCommit, Guard, Head, InboxLease, Outcome, Refusal, RowKey, RowsCommit,
    StoreError, TimerQuery, TimerRow,
};
use futures_util::future::{join_all, select};

use super::queue::{SetBack, TimerQueue};
use crate::commit::PostCommit;
use crate::error::Unavailable;
use crate::execution::{Dispatcher, Parts};
use crate::streams::{StreamError, Streams};

/// The number of timers read from the store at once.
const PAGE: usize = 10_000;
/// The maximum time between a commit that sets a timer and the call that adds it to the queue.
const SETTLED_AFTER: Duration = Duration::from_secs(1);
/// The minimum sleep of the timer task if nothing is due, even with a short horizon.
const SLEEP_MIN: Duration = Duration::from_secs(1);
/// The delay before a head is read again from an unavailable store.
const HEAD_RETRY: Duration = Duration::from_millis(500);
/// The number of heads of due timers read from the store at once.
const HEADS_AT_ONCE: usize = 256;

pub(crate) struct TimerTask {
    pub(crate) parts: Arc<Parts>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) queue: Arc<TimerQueue>,
    pub(crate) streams: Streams,
}

impl TimerTask {
    pub(crate) async fn run(self: Arc<Self>) {
        let node = &self.parts.node;
        while !node.is_closing() {
            if let Some(set_back) = self.queue.take_set_back() {
                self.load_earlier(set_back);
            }
            if let Err(error) = self.load().await {
                tracing::error!(%error, "cannot read timers");
                self.queue.set_stale();
                node.rest(node.settings.lease_ttl).await;
                continue;
            }
            let due = self.queue.take_due(node.now());
            for timers in due.chunks(HEADS_AT_ONCE) {
                self.fire(timers).await;
            }
            let sleep = node.runtime.sleep(self.sleep_duration());
            let changed = std::pin::pin!(self.queue.changed());
            select(sleep, changed).await;
        }
    }

    /// Returns how long the task may sleep. The clock may be set meanwhile, so the duration is
    /// limited.
    fn sleep_duration(&self) -> Duration {
        let left = self.parts.node.now().until(self.wake_at());
        let left = left.min(self.parts.node.settings.timer_horizon.max(SLEEP_MIN));
        let earlier = self.queue.earlier_left();
        earlier.map_or(left, |earlier| left.min(earlier))
    }

    /// Returns when the task has something to do. A full queue is not refilled before timers have
    /// fired.
    fn wake_at(&self) -> Timestamp {
        let refresh_at = self.refresh_at();
        match self.queue.next_due() {
            Some(due) if self.is_full() => due,
            Some(due) => due.min(refresh_at),
            None => refresh_at,
        }
    }

    fn is_full(&self) -> bool {
        self.queue.len() > self.timers_max() / 2
    }

    fn timers_max(&self) -> usize {
        self.parts.node.settings.timers_in_memory_max.max(1)
    }

    /// Returns when to read further timers: half a horizon before the end of those that are loaded.
    fn refresh_at(&self) -> Timestamp {
        let margin = self.parts.node.settings.timer_horizon.as_millis() / 2;
        let known = self.queue.loaded_until().as_millis();
        Timestamp::from_millis(known.saturating_sub(u64::try_from(margin).unwrap_or(u64::MAX)))
    }

    /// Reads timers up to the horizon, unless enough are loaded or the queue is full.
    async fn load(&self) -> Result<(), StoreError> {
        let now = self.parts.node.now();
        let until = now.after(self.parts.node.settings.timer_horizon);
        // The clock may have been set back since timers were loaded.
        self.queue.unload_after(until);
        let is_enough = self.refresh_at() > now || self.is_full();
        if !self.queue.take_stale() && is_enough {
            return Ok(());
        }
        let mut after = None;
        loop {
            let limit = PAGE;
            let query = TimerQuery {
                until,
                after,
                limit,
            };
            // Extended before reading, so that timers set meanwhile are not missed.
            self.queue.extend_until(until);
            let page = self.parts.node.store.timers(query).await?;
            after = page.last().cloned();
            let is_last = page.len() < PAGE;
            self.queue.load(page, now, self.timers_max());
            if is_last || self.queue.loaded_until() < until {
                return Ok(());
            }
        }
    }

    /// Reads the timers that were set before the clock was set back and are not in memory, up to
    /// the number of timers that may be in memory.
    fn load_earlier(self: &Arc<Self>, set_back: SetBack) {
        tracing::warn!("the clock was set back, earlier timers fire when their time has passed");
        let task = self.clone();
        self.parts.node.spawn(async move {
            let node = &task.parts.node;
            while !node.is_closing() {
                match task.read_earlier(set_back).await {
                    Ok(timers) => return task.queue.add_earlier(timers, set_back),
                    Err(error) => tracing::error!(%error, "cannot read timers, retrying"),
                }
                node.rest(node.settings.lease_ttl).await;
            }
        });
    }

    async fn read_earlier(&self, set_back: SetBack) -> Result<Vec<TimerRow>, StoreError> {
        let mut timers: Vec<TimerRow> = Vec::new();
        let mut after = Some(TimerRow {
            due: set_back.known_until,
            stream: StreamNumber(i64::MAX.unsigned_abs()),
            purpose: TimerPurpose::Expiry,
            location: None,
        });
        while timers.len() < self.timers_max() {
            let query = TimerQuery {
                until: Timestamp::from_millis(i64::MAX.unsigned_abs()),
                after,
                limit: PAGE,
            };
            let page = self.parts.node.store.timers(query).await?;
            after = page.last().cloned();
            let is_last = page.len() < PAGE;
            timers.extend(page);
            if is_last {
                break;
            }
        }
        // Wait until `timer_set` was called for every row just read, so that `later` contains all
        // timers set after the jump.
        self.parts.node.rest(SETTLED_AFTER).await;
        Ok(timers)
    }

    /// Fires timers in the given order: their commits are queued one after the other without
    /// waiting.
    async fn fire(self: &Arc<Self>, timers: &[TimerRow]) {
        let heads = timers.iter().map(|timer| self.head_for_firing(timer));
        let heads = join_all(heads).await;
        let mut failed: HashMap<_, StoreError> = HashMap::new();
        for (timer, head) in timers.iter().zip(heads) {
            // Later timers of a run must not overtake one that is retried.
            if let Some(error) = failed.get(&timer.stream) {
                self.retry(timer.clone(), error);
                continue;
            }
            match head {
                Ok(Some(_)) if timer.purpose == TimerPurpose::Expiry => {
                    self.check_expiry(timer.clone());
                }
                Ok(Some(head)) => self.submit_firing(timer.clone(), &head),
                Ok(None) => self.delete(timer.clone()),
                Err(error) => {
                    self.retry(timer.clone(), &error);
                    failed.insert(timer.stream, error);
                }
            }
        }
    }

    /// Reads the head of a timer's stream. Waits while the store is unavailable, so that no timer
    /// overtakes another.
    async fn head_for_firing(&self, timer: &TimerRow) -> Result<Option<Head>, StoreError> {
        loop {
            match self.parts.node.head(timer.stream).await {
                Err(StoreError::Unavailable { .. }) if !self.parts.node.is_closing() => {
                    self.parts.node.rest(HEAD_RETRY).await;
                }
                head => return head,
            }
        }
    }

    /// Handles the expiry timer of a user's stream: the stream expires, or the timer is set again.
    fn check_expiry(self: &Arc<Self>, timer: TimerRow) {
        let task = self.clone();
        self.parts.node.spawn(async move {
            if let Err(StreamError::Unavailable(Unavailable::Store(error))) =
                task.streams.check_expiry(&timer).await
                && !task.parts.node.is_closing()
            {
                task.retry(timer, &error);
            }
        });
    }

    fn submit_firing(self: &Arc<Self>, timer: TimerRow, head: &Head) {
        let commit = Commit::from(self.firing(&timer, head));
        let run = head.run.as_ref();
        let effects = run.map(|run| PostCommit::of_run(&run.id, &commit, Vec::new()));
        let task = self.clone();
        let reply = move |_: &mut Commit, outcome| task.fired(timer, effects, outcome);
        self.parts.committer.submit(commit, Box::new(reply));
    }

    /// Called by the committer with the outcome.
    fn fired(
        self: &Arc<Self>,
        timer: TimerRow,
        effects: Option<PostCommit>,
        outcome: Result<Outcome, StoreError>,
    ) {
        match outcome {
            Ok(Outcome::Committed { taken, .. }) => {
                let effects = effects.unwrap_or_default();
                self.dispatcher.landed(timer.stream, effects, taken);
            }
            Ok(Outcome::Refused(Refusal::Unreadable(error))) => self.retry(timer, &error),
            Ok(Outcome::Refused(Refusal::Closed | Refusal::NoStream)) => self.delete(timer),
            Ok(Outcome::Refused(Refusal::TooEarly(now))) => {
                let left = now.until(timer.due);
                self.queue.retry(timer, left);
            }
            // The timer was cancelled, or fired by another node.
            Ok(Outcome::Refused(_) | Outcome::Duplicate { .. }) => {}
            Err(_) if self.parts.node.is_closing() => {}
            Err(error) => self.retry(timer, &error),
        }
    }

    /// Deletes a timer whose run has ended or was deleted.
    fn delete(self: &Arc<Self>, timer: TimerRow) {
        let mut commit = RowsCommit::new(timer.stream, self.parts.node.now());
        commit.rows.delete.push(RowKey::Timer(timer));
        // If this fails, the timer is found when timers are read again.
        self.parts.committer.submit(commit, Box::new(|_, _| {}));
    }

    /// Fires a timer again later. If the run is damaged, its timers stay in the store until the
    /// next sweep.
    fn retry(&self, timer: TimerRow, error: &StoreError) {
        if error.is_damage() {
            self.parts.watchers.unreadable(timer.stream, error);
            let node = &self.parts.node;
            let until = node.now().after(node.settings.sweep_interval);
            self.queue.ignore_until(timer.stream, until);
            return;
        }
        tracing::error!(%error, stream = %timer.stream, "cannot fire a timer, retrying");
        let delay = self.parts.node.settings.lease_ttl;
        self.queue.retry(timer, delay);
    }

    fn firing(&self, timer: &TimerRow, head: &Head) -> DeliverCommit {
        // The clock may have been set back since the timer was due.
        let clock = self.parts.node.now();
        let now = clock.max(timer.due);
        let key = RowKey::Timer(timer.clone());
        let mut commit = DeliverCommit::new(timer.stream, now);
        commit.guards.push(Guard::RowPresent(key.clone()));
        // Another node with a correct clock may have set the timer, so the store's clock decides.
        if clock < timer.due && self.parts.node.store.describe().spans_processes {
            commit.guards.push(Guard::NotBefore(timer.due));
        }
        commit.rows.delete.push(key);
        commit.ready = Some(true);
        let body: Body = match timer.purpose {
            TimerPurpose::Deadline => {
                let deadline = timer.due;
                DeadlinePassed { deadline }.into()
            }
            TimerPurpose::Sleep
            | TimerPurpose::Wait
            | TimerPurpose::Rpc
            | TimerPurpose::Retry
            | TimerPurpose::ExecutionRetry
            | TimerPurpose::Child
            | TimerPurpose::Undo
            | TimerPurpose::Expiry => TimerFired {
                purpose: timer.purpose,
                location: timer.location.clone(),
                due: timer.due,
            }
            .into(),
        };
        commit.records.push(Record { time: now, body });
        if let Some(run) = &head.run {
            // An rpc that timed out accepts no answer from this commit on.
            if let (TimerPurpose::Rpc, Some(location)) = (timer.purpose, &timer.location) {
                let id = RpcId::of(&run.id, run.generation, location);
                commit.rows.delete.push(RowKey::Rpc(timer.stream, id));
            }
            if let Some(claim) = self.parts.claim_for_delivery(timer.stream, run) {
                commit.lease = InboxLease::Claim(claim);
            }
        }
        commit
    }
}
