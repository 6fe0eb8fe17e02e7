//! Runs in memory: executing, or suspended and kept for a while so that an event resumes them without replay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_model::{Epoch, StreamNumber, Timestamp};
use everstep_store::Fence;
use futures_util::future::select;
use rustc_hash::FxHashMap;
use tokio::sync::Notify;

use crate::activation::Message;
use crate::core::Core;
use crate::mailbox::{Letter, Mailbox};

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
    /// The right under which it is, or was last, executed.
    epoch: Epoch,
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
    /// A run is being executed here from now on, unless it is under a later right already. Whoever loses it is told.
    pub(crate) fn add(&self, stream: StreamNumber, epoch: Epoch, mailbox: Arc<Mailbox>) {
        let mut state = self.state();
        let is_late = |hot: &Hot| hot.epoch > epoch;
        let lost = if state.runs.get(&stream).is_some_and(is_late) {
            Some(mailbox)
        } else {
            let earlier = state.take_out(stream);
            let idle = None;
            state.runs.insert(
                stream,
                Hot {
                    mailbox,
                    epoch,
                    idle,
                },
            );
            earlier.map(|hot| hot.mailbox)
        };
        drop(state);
        if let Some(mailbox) = lost {
            mailbox.push(Message::Lost);
        }
    }

    /// This node has the right to a run: its executor goes on with it if it has suspended, and so has nothing of its own under
    /// way. One that is in the middle of something lost the run to others without hearing of it, and what it has done since
    /// must not get into the journal under the new right. False if nobody here goes on.
    pub(crate) fn resume(&self, stream: StreamNumber, fence: Fence) -> bool {
        let mut state = self.state();
        let Some(hot) = state.runs.get_mut(&stream) else {
            return false;
        };
        if hot.epoch >= fence.epoch {
            // News of an older right came late.
            return true;
        }
        let idle = hot.idle.take();
        hot.epoch = fence.epoch;
        let mailbox = hot.mailbox.clone();
        match idle {
            Some((order, _)) => drop(state.idle.remove(&order)),
            None => drop(state.runs.remove(&stream)),
        }
        drop(state);
        mailbox.push(match idle {
            Some(_) => Letter::Right(fence),
            None => Letter::Message(Message::Lost),
        });
        idle.is_some()
    }

    /// Tells a run's executor something, if it is in memory.
    pub(crate) fn tell(&self, stream: StreamNumber, message: Message) -> bool {
        let mailbox = self
            .state()
            .runs
            .get(&stream)
            .map(|hot| hot.mailbox.clone());
        let Some(mailbox) = mailbox else { return false };
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

    /// The executor with this mailbox has suspended; gives the one that has to make room for it, if one has to.
    fn set_idle(
        &self,
        stream: StreamNumber,
        mailbox: &Arc<Mailbox>,
        now: Timestamp,
        limit: usize,
    ) -> Option<Arc<Mailbox>> {
        let mut state = self.state();
        let is_same = |hot: &&mut Hot| Arc::ptr_eq(&hot.mailbox, mailbox);
        let order = state.next_idle;
        state.next_idle += 1;
        if let Some(hot) = state.runs.get_mut(&stream).filter(is_same) {
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
    pub(crate) fn hot_idle(&self, stream: StreamNumber, mailbox: &Arc<Mailbox>) {
        let (now, limit) = (self.runtime.now(), self.settings.hot_runs_max);
        let evicted = self.hot.set_idle(stream, mailbox, now, limit);
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

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use everstep_model::Nonce;

    use super::*;

    const STREAM: StreamNumber = StreamNumber(1);

    fn fence(epoch: u64) -> Fence {
        Fence {
            epoch: Epoch(epoch),
            nonce: Nonce(epoch),
        }
    }

    fn told(mailbox: &Mailbox) -> Option<Letter> {
        match mailbox.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(letter) => Some(letter),
            Poll::Pending => None,
        }
    }

    fn hot(epoch: u64) -> (HotRuns, Arc<Mailbox>) {
        let (runs, mailbox) = (HotRuns::default(), Arc::<Mailbox>::default());
        runs.add(STREAM, Epoch(epoch), mailbox.clone());
        (runs, mailbox)
    }

    #[test]
    fn a_suspended_executor_goes_on_under_a_new_right() {
        let (runs, mailbox) = hot(3);
        runs.set_idle(STREAM, &mailbox, Timestamp::from_millis(0), 10);
        assert!(runs.resume(STREAM, fence(5)));
        assert_eq!(told(&mailbox), Some(Letter::Right(fence(5))));
        assert_eq!(runs.executing(), 1);
    }

    #[test]
    fn an_executor_in_the_middle_of_something_is_not_given_a_new_right() {
        let (runs, mailbox) = hot(3);
        assert!(!runs.resume(STREAM, fence(5)));
        assert_eq!(told(&mailbox), Some(Message::Lost.into()));
        assert!(!runs.contains(STREAM));
    }

    #[test]
    fn news_of_an_older_right_changes_nothing() {
        let (runs, mailbox) = hot(5);
        assert!(runs.resume(STREAM, fence(4)));
        let late = Arc::<Mailbox>::default();
        runs.add(STREAM, Epoch(4), late.clone());
        assert_eq!(
            (told(&mailbox), told(&late)),
            (None, Some(Message::Lost.into()))
        );
        assert!(runs.contains(STREAM));
    }

    #[test]
    fn whoever_had_the_run_before_is_told() {
        let (runs, mailbox) = hot(3);
        runs.add(STREAM, Epoch(4), Arc::default());
        assert_eq!(told(&mailbox), Some(Message::Lost.into()));
    }
}
