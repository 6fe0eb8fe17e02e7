//! Runs in memory: executing, or suspended and kept for a while so that an event resumes them without replay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_model::{StreamNumber, Timestamp};
use futures_util::future::select;
use rustc_hash::FxHashMap;
use tokio::sync::Notify;

use crate::activation::Message;
use crate::core::Core;
use crate::mailbox::Mailbox;

/// Evictions come in groups, so that many runs that suspended together do not wake the task one by one.
const EVICTION_PAUSE: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(crate) struct HotRuns {
    state: Mutex<State>,
    /// Signalled when a run suspends and none was suspended before.
    became_idle: Notify,
}

#[derive(Default)]
struct State {
    runs: FxHashMap<StreamNumber, Hot>,
    /// Suspended runs, the longest suspended first.
    idle: BTreeMap<u64, StreamNumber>,
    next_idle: u64,
}

struct Hot {
    mailbox: Arc<Mailbox>,
    idle: Option<(u64, Timestamp)>,
}

impl State {
    fn take_out(&mut self, stream: StreamNumber) -> Option<Hot> {
        let hot = self.runs.remove(&stream)?;
        if let Some((order, _)) = hot.idle {
            self.idle.remove(&order);
        }
        Some(hot)
    }
}

impl HotRuns {
    /// A run is being executed here from now on.
    pub(crate) fn add(&self, stream: StreamNumber, mailbox: Arc<Mailbox>) {
        let mut state = self.state();
        state.take_out(stream);
        state.runs.insert(
            stream,
            Hot {
                mailbox,
                idle: None,
            },
        );
    }

    /// Tells a run's executor something, if it is in memory; `wakes` says that it is no longer suspended.
    pub(crate) fn tell(&self, stream: StreamNumber, message: Message, wakes: bool) -> bool {
        let mut state = self.state();
        let Some(hot) = state.runs.get_mut(&stream) else {
            return false;
        };
        let mailbox = hot.mailbox.clone();
        if wakes && let Some((order, _)) = hot.idle.take() {
            state.idle.remove(&order);
        }
        drop(state);
        mailbox.push(message);
        true
    }

    /// The executor of a run has lost it, whatever it is doing. Whoever takes the run next begins with a mailbox of its own.
    pub(crate) fn lose(&self, stream: StreamNumber) {
        let lost = self.state().take_out(stream);
        if let Some(hot) = lost {
            hot.mailbox.push(Message::Lost);
        }
    }

    pub(crate) fn contains(&self, stream: StreamNumber) -> bool {
        self.state().runs.contains_key(&stream)
    }

    /// Removes a run, unless another executor has it by now.
    fn remove(&self, stream: StreamNumber, mailbox: &Arc<Mailbox>) {
        let mut state = self.state();
        let is_same = |hot: &Hot| Arc::ptr_eq(&hot.mailbox, mailbox);
        if state.runs.get(&stream).is_some_and(is_same) {
            state.take_out(stream);
        }
    }

    /// Tells every run in memory.
    pub(crate) fn tell_all(&self, message: &Message) {
        let mailboxes: Vec<_> = self
            .state()
            .runs
            .values()
            .map(|hot| hot.mailbox.clone())
            .collect();
        for mailbox in mailboxes {
            mailbox.push(message.clone());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.state().runs.len()
    }

    /// How many runs are executing rather than suspended.
    pub(crate) fn executing(&self) -> usize {
        let state = self.state();
        state.runs.len() - state.idle.len()
    }

    fn set_idle(&self, stream: StreamNumber, now: Timestamp, limit: usize) -> Option<Arc<Mailbox>> {
        let mut state = self.state();
        let order = state.next_idle;
        state.next_idle += 1;
        if let Some(hot) = state.runs.get_mut(&stream) {
            hot.idle = Some((order, now));
            if state.idle.is_empty() {
                self.became_idle.notify_one();
            }
            state.idle.insert(order, stream);
        }
        if state.idle.len() <= limit {
            return None;
        }
        let (_, oldest) = state.idle.pop_first()?;
        state.runs.remove(&oldest).map(|hot| hot.mailbox)
    }

    fn longest_idle_since(&self) -> Option<Timestamp> {
        let state = self.state();
        let (_, stream) = state.idle.first_key_value()?;
        state.runs.get(stream)?.idle.map(|(_, since)| since)
    }

    fn take_idle_since(&self, before: Timestamp) -> Vec<Arc<Mailbox>> {
        let mut state = self.state();
        let mut evicted = Vec::new();
        while let Some((&order, &stream)) = state.idle.first_key_value() {
            let since = state.runs.get(&stream).and_then(|hot| hot.idle);
            if since.is_some_and(|(_, since)| since > before) {
                break;
            }
            state.idle.remove(&order);
            evicted.extend(state.runs.remove(&stream).map(|hot| hot.mailbox));
        }
        evicted
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// A run has suspended; it stays in memory while there is room.
    pub(crate) fn hot_idle(&self, stream: StreamNumber) {
        let evicted = self
            .hot
            .set_idle(stream, self.runtime.now(), self.settings.hot_runs_max);
        if let Some(mailbox) = evicted {
            mailbox.push(Message::Evict);
        }
    }

    /// A run is no longer executed by the executor with this mailbox.
    pub(crate) fn hot_gone(&self, stream: StreamNumber, mailbox: &Arc<Mailbox>) {
        self.hot.remove(stream, mailbox);
    }

    /// Drops runs that have been suspended for long. While none is suspended it waits for the first.
    pub(crate) async fn evict_idle(self: Arc<Self>) {
        let idle_max = self.settings.hot_idle_max;
        let idle_millis = u64::try_from(idle_max.as_millis()).unwrap_or(u64::MAX);
        while !self.is_closing() {
            match self.hot.longest_idle_since() {
                None => self.until_idle_or_closing().await,
                Some(since) => {
                    let left = self.runtime.now().until(since.after(idle_max));
                    self.rest(left.max(EVICTION_PAUSE)).await;
                }
            }
            let now = self.runtime.now().as_millis();
            let before = Timestamp::from_millis(now.saturating_sub(idle_millis));
            for mailbox in self.hot.take_idle_since(before) {
                mailbox.push(Message::Evict);
            }
        }
    }

    async fn until_idle_or_closing(&self) {
        let stopping = std::pin::pin!(self.stopping.notified());
        let idle = std::pin::pin!(self.hot.became_idle.notified());
        if !self.is_closing() {
            select(idle, stopping).await;
        }
    }
}
