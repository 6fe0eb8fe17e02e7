//! Timers: the near future in memory (`timer_queue`), the rest in the store. A timer fires by one commit that appends
//! its record and removes its row, so it fires once, whoever polls, and never early.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::record::{DeadlinePassed, TimerFired, TimerPurpose};
use everstep_model::{Body, Record, RpcId, Timestamp};
use everstep_store::{
    Commit, DeliverCommit, Guard, Head, InboxLease, Outcome, Refusal, RowKey, RowsCommit,
    StoreError, StreamRef, TimerQuery, TimerRow,
};
use futures_util::future::{Either, join_all, select};

use crate::core::Core;
use crate::effects::Effects;
use crate::error::Unavailable;
use crate::streams::{StreamError, Streams};

/// Timers read from the store at once.
const PAGE: usize = 10_000;
/// How long the timer task sleeps at least if nothing is due, however near the horizon is.
const SLEEP_MIN: Duration = Duration::from_secs(1);
/// How long it waits for a store that cannot be reached.
const HEAD_RETRY: Duration = Duration::from_millis(500);
/// Heads of due timers read from the store at once.
const HEADS_AT_ONCE: usize = 256;

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
            let sleep = self.runtime.sleep(self.rest_of_timers());
            let changed = std::pin::pin!(poll_fn(|context| self.timers.poll_changed(context)));
            match select(sleep, changed).await {
                Either::Left(_) | Either::Right(_) => {}
            }
        }
    }

    /// How long the timer task may sleep. Clocks are set back and forward, so it looks again after a while at the latest.
    fn rest_of_timers(&self) -> Duration {
        let left = self.runtime.now().until(self.wake_at());
        left.min(self.settings.timer_horizon.max(SLEEP_MIN))
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
        let until = now.after(self.settings.timer_horizon);
        // The clock may have been set back since the future was read.
        self.timers.know_at_most(until);
        let is_enough = self.refresh_at() > now || self.is_full();
        if !self.timers.take_stale() && is_enough {
            return Ok(());
        }
        let mut after = None;
        loop {
            let query = TimerQuery {
                until,
                after: after.clone(),
                limit: PAGE,
            };
            // Known before it is read, so that timers set meanwhile are not missed.
            self.timers.know_until(until);
            let page = self.store.timers(query).await?;
            after = page.last().cloned();
            let is_last = page.len() < PAGE;
            self.timers.load(page, now, self.timers_max());
            if is_last || self.timers.loaded_until() < until {
                return Ok(());
            }
        }
    }

    /// Fires timers in the order given: their commits are queued one after the other, and nobody waits in between.
    async fn fire(self: &Arc<Self>, timers: &[TimerRow]) {
        let heads = timers.iter().map(|timer| self.head_for_firing(timer));
        let heads = join_all(heads).await;
        let mut failed: HashMap<_, StoreError> = HashMap::new();
        for (timer, head) in timers.iter().zip(heads) {
            // What comes later in a run does not overtake what is tried again.
            if let Some(error) = failed.get(&timer.stream) {
                self.not_fired(timer.clone(), error);
                continue;
            }
            match head {
                Ok(Some(_)) if timer.purpose == TimerPurpose::Expiry => {
                    self.look_at_stream(timer.clone());
                }
                Ok(Some(head)) => self.submit_firing(timer.clone(), &head),
                Ok(None) => self.clear_away(timer.clone()),
                Err(error) => {
                    self.not_fired(timer.clone(), &error);
                    failed.insert(timer.stream, error);
                }
            }
        }
    }

    /// The head of a timer's run. While the store cannot be reached no timer can be fired, so that none overtakes another.
    async fn head_for_firing(&self, timer: &TimerRow) -> Result<Option<Head>, StoreError> {
        loop {
            let head = self.store.head(StreamRef::Number(timer.stream)).await;
            match head {
                Err(StoreError::Unavailable { .. }) if !self.is_closing() => {
                    self.rest(HEAD_RETRY).await;
                }
                head => return head,
            }
        }
    }

    /// The timer of a user's stream: it ends the stream, or is set anew.
    fn look_at_stream(self: &Arc<Self>, timer: TimerRow) {
        let core = self.clone();
        self.spawn(Box::pin(async move {
            let streams = Streams { core: core.clone() };
            if let Err(StreamError::Unavailable(Unavailable::Store(error))) =
                streams.look_at(&timer).await
                && !core.is_closing()
            {
                core.not_fired(timer, &error);
            }
        }));
    }

    fn submit_firing(self: &Arc<Self>, timer: TimerRow, head: &Head) {
        let commit = Commit::from(self.firing(&timer, head));
        let run = head.run.as_ref();
        let effects = run.map(|run| Effects::of(&run.id, &commit, Vec::new()));
        let core = self.clone();
        let reply = move |_: &mut Commit, outcome| core.fired(timer, effects, outcome);
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
            Ok(Outcome::Refused(Refusal::Unreadable(error))) => self.not_fired(timer, &error),
            Ok(Outcome::Refused(Refusal::Closed | Refusal::NoStream)) => self.clear_away(timer),
            // Cancelled, or fired by another node.
            Ok(Outcome::Refused(_) | Outcome::Duplicate { .. }) => {}
            Err(_) if self.is_closing() => {}
            Err(error) => self.not_fired(timer, &error),
        }
    }

    /// The run is over or gone, and left this behind: nothing will ever come of it.
    fn clear_away(self: &Arc<Self>, timer: TimerRow) {
        let mut commit = RowsCommit::new(timer.stream, self.runtime.now());
        commit.rows.delete.push(RowKey::Timer(timer));
        // If it fails, whoever reads the timers next finds it.
        self.committer.submit(commit, Box::new(|_, _| {}));
    }

    /// Tries again soon if the store failed. If the run is damaged, its timers stay in the store and rest until runs are
    /// swept again.
    fn not_fired(self: &Arc<Self>, timer: TimerRow, error: &StoreError) {
        if error.is_damage() {
            self.unreadable(timer.stream, error);
            let until = self.runtime.now().after(self.settings.sweep_interval);
            self.timers.let_rest(timer.stream, until);
            return;
        }
        tracing::error!(%error, stream = %timer.stream, "a timer could not be fired; it is tried again");
        let core = self.clone();
        self.spawn(Box::pin(async move {
            core.rest(core.settings.lease_ttl).await;
            core.timers.add(timer);
        }));
    }

    fn firing(&self, timer: &TimerRow, head: &Head) -> DeliverCommit {
        // It was due by this clock, which may have been set back since then.
        let now = self.runtime.now().max(timer.due);
        let key = RowKey::Timer(timer.clone());
        let mut commit = DeliverCommit::new(timer.stream, now);
        commit.guards.push(Guard::RowPresent(key.clone()));
        commit.rows.delete.push(key);
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
            // An rpc that gave up takes no answer from this commit on.
            if let (TimerPurpose::Rpc, Some(location)) = (timer.purpose, &timer.location) {
                let id = RpcId::of(&run.id, run.generation, location);
                commit.rows.delete.push(RowKey::Rpc(timer.stream, id));
            }
            if self.takes(timer.stream, run) && !self.is_closing() {
                commit.lease = InboxLease::Claim(self.take());
            }
        }
        commit
    }
}
