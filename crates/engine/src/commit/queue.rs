//! The queue of the committer: commits gather here while a batch is in flight.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};

use everstep_store::{Commit, StoreError};
use tokio::sync::Notify;

use super::batch::{Batch, Reply};
use super::in_flight::InFlight;
use crate::lock::lock;
use crate::tasks::wait_until;

/// How commits were grouped into batches since the engine was opened. Each batch is one sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what is counted")]
pub struct Grouping {
    pub batches: u64,
    pub commits: u64,
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    idle: Notify,
}

#[derive(Default)]
struct State {
    queued: Batch,
    grouping: Grouping,
    /// Whether the committer ends once the queue is empty.
    closed: bool,
    /// Whether the committer has ended: nothing is written any more.
    ended: bool,
    sender: Option<Waker>,
    /// `None` if only one batch is in flight at a time.
    in_flight: Option<InFlight>,
    /// The number of batches in flight.
    sending: usize,
}

impl Queue {
    pub(super) fn allow_several_in_flight(&self) {
        lock(&self.state).in_flight = Some(InFlight::default());
    }

    /// Queues a commit. Once the committer has ended, calls the reply at once.
    pub(super) fn push(&self, mut commit: Commit, reply: Reply) {
        let mut state = lock(&self.state);
        if state.ended {
            drop(state);
            return reply(&mut commit, Err(stopped()));
        }
        state.queued.push(commit, reply);
        // Senders that may not send yet are not woken: each of many commits would do so in vain.
        if state.may_send() {
            wake_senders(state);
        }
    }

    /// Queues commits that are written in one batch, in this order and with nothing in between.
    pub(super) fn push_all(
        &self,
        commits: impl Iterator<Item = (Commit, Reply)>,
    ) -> Result<(), StoreError> {
        let mut state = lock(&self.state);
        if state.ended {
            return Err(stopped());
        }
        for (commit, reply) in commits {
            state.queued.push(commit, reply);
        }
        wake_senders(state);
        Ok(())
    }

    /// Swaps the commits that may be sent now with an empty batch. Returns false once the committer
    /// has ended.
    pub(super) async fn take(&self, batch: &mut Batch) -> bool {
        poll_fn(|context| {
            let mut guard = lock(&self.state);
            let state = &mut *guard;
            if state.queued.len() > 0 && state.take(batch) {
                return Poll::Ready(true);
            }
            if state.ended {
                return Poll::Ready(false);
            }
            if state.closed && state.queued.len() == 0 && state.sending == 0 {
                state.ended = true;
                // The other senders end too.
                wake_senders(guard);
                return Poll::Ready(false);
            }
            state.sender = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Marks a batch as written, after its replies were called.
    pub(super) fn landed(&self, batch: &mut Batch) {
        let mut state = lock(&self.state);
        if let Some(in_flight) = &mut state.in_flight {
            in_flight.landed(batch);
        }
        state.sending -= 1;
        self.wake_all(state);
    }

    pub(super) fn grouping(&self) -> Grouping {
        lock(&self.state).grouping
    }

    /// Ends the committer once everything queued is written.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        wake_senders(state);
    }

    /// Waits until everything queued is written and nothing more will be.
    pub(super) async fn ended(&self) {
        let is_ended = || {
            let state = lock(&self.state);
            state.ended && state.sending == 0
        };
        wait_until(&self.idle, is_ended).await;
    }

    /// Ends the committer at once and fails all queued commits.
    pub(super) fn abort(&self) {
        let mut state = lock(&self.state);
        state.ended = true;
        let mut queued = std::mem::take(&mut state.queued);
        drop(state);
        queued.reply(std::iter::repeat_with(|| Err(stopped())));
        let mut state = lock(&self.state);
        state.sending = 0;
        self.wake_all(state);
    }

    fn wake_all(&self, state: MutexGuard<'_, State>) {
        let is_idle = state.sending == 0;
        wake_senders(state);
        if is_idle {
            self.idle.notify_waiters();
        }
    }
}

impl State {
    fn may_send(&self) -> bool {
        let in_flight = self.in_flight.as_ref();
        in_flight.is_none_or(|in_flight| in_flight.may_send(self.queued.len()))
    }

    fn take(&mut self, batch: &mut Batch) -> bool {
        match &mut self.in_flight {
            None => std::mem::swap(&mut self.queued, batch),
            Some(in_flight) => in_flight.send(&mut self.queued, batch),
        }
        if batch.len() == 0 {
            return false;
        }
        self.sending += 1;
        self.grouping.batches += 1;
        self.grouping.commits += batch.len() as u64;
        self.queued.shrink();
        true
    }
}

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable {
        detail: "the engine has stopped".to_owned(),
    }
}

fn wake_senders(mut state: MutexGuard<'_, State>) {
    let waker = state.sender.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}
