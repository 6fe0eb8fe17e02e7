//! The group committer: one task that takes whatever is queued, commits it as one batch, and tells everybody.
//!
//! While a batch is being synced the next one gathers, so the group grows with the load and an idle engine waits for
//! nothing. Nobody hears of a commit before it is durable: replies are called after `Store::commit` returned. To a shared
//! store, which is far away, a second batch may travel beside the first; see `under_way.rs` for what keeps them apart.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use everstep_model::NodeId;
use everstep_store::{Commit, Outcome, Store, StoreError};
use futures_util::future::join_all;

use crate::lane::{Lane, Sender};
use crate::reach::Reach;
use crate::runtime::Runtime;
use crate::under_way::{Touched, UnderWay};
use crate::watch::Watchers;

/// What a commit became, delivered once, and the commit itself, whose records are worth taking.
pub(crate) type Reply = Box<dyn FnOnce(&mut Commit, Result<Outcome, StoreError>) + Send>;

/// For how many commits an empty queue keeps room.
const ROOM_KEPT: usize = 4_096;

#[derive(Clone, Default)]
pub(crate) struct Committer(Arc<Queue>);

#[derive(Default)]
struct Queue(Mutex<State>);

/// Commits and who waits for each. Emptied ones are filled again, so that a busy queue does not grow anew for each batch.
#[derive(Default)]
pub(crate) struct Batch {
    commits: Vec<Commit>,
    replies: Vec<Reply>,
    /// The streams they are about, where that matters.
    pub(crate) streams: Vec<Touched>,
}

impl Batch {
    pub(crate) fn push(&mut self, commit: Commit, reply: Reply) {
        self.commits.push(commit);
        self.replies.push(reply);
    }

    pub(crate) fn len(&self) -> usize {
        self.commits.len()
    }

    pub(crate) fn commits(&mut self) -> &mut [Commit] {
        &mut self.commits
    }

    /// Gives back the memory that only a burst of commits needed.
    fn shrink(&mut self) {
        self.commits.shrink_to(ROOM_KEPT);
        self.replies.shrink_to(ROOM_KEPT);
    }

    /// Tells everybody what became of their commits. Those are thrown away when all have heard.
    pub(crate) fn tell(&mut self, outcomes: impl Iterator<Item = Result<Outcome, StoreError>>) {
        let waiting = self.commits.iter_mut().zip(self.replies.drain(..));
        for ((commit, reply), outcome) in waiting.zip(outcomes) {
            reply(commit, outcome);
        }
        self.commits.clear();
    }

    pub(crate) fn drain(&mut self) -> impl ExactSizeIterator<Item = (Commit, Reply)> {
        self.commits.drain(..).zip(self.replies.drain(..))
    }
}

/// How commits were grouped so far: each batch is one sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Batches sent to the store.
    pub batches: u64,
    /// Commits in them.
    pub commits: u64,
}

#[derive(Default)]
struct State {
    queued: Batch,
    grouping: Grouping,
    closed: bool,
    /// Nothing is written any more.
    ended: bool,
    waker: Option<Waker>,
    idle: Option<Waker>,
    /// None where one batch travels at a time.
    under_way: Option<UnderWay>,
    /// How many batches are.
    sending: usize,
}

impl Committer {
    /// Queues a commit. Once the committer has ended, the reply says so at once.
    pub(crate) fn submit(&self, commit: impl Into<Commit>, reply: Reply) {
        let mut commit = commit.into();
        let mut state = self.0.state();
        if state.ended {
            drop(state);
            return reply(&mut commit, Err(stopped()));
        }
        state.queued.push(commit, reply);
        // A lane that could not send yet would be woken by each of many commits only to wait again.
        if state.may_send() {
            wake(state);
        }
    }

    /// Queues commits to one stream, which are written in one batch, in this order and with nothing in between, and waits for
    /// what they became.
    pub(crate) async fn commit_all(
        &self,
        commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let receivers: Vec<_> = {
            let mut state = self.0.state();
            if state.ended {
                return Err(stopped());
            }
            let queued = commits.into_iter().map(|commit| {
                let (send, receive) = tokio::sync::oneshot::channel();
                let reply = move |_: &mut Commit, outcome| {
                    let _ = send.send(outcome);
                };
                state.queued.push(commit, Box::new(reply));
                receive
            });
            let receivers = queued.collect();
            wake(state);
            receivers
        };
        let mut outcomes = Vec::with_capacity(receivers.len());
        for receiver in receivers {
            outcomes.push(receiver.await.unwrap_or_else(|_| Err(stopped()))?);
        }
        Ok(outcomes)
    }

    /// Queues a commit and waits for what it became.
    pub(crate) async fn commit(&self, commit: impl Into<Commit>) -> Result<Outcome, StoreError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        self.submit(
            commit,
            Box::new(move |_, outcome| {
                let _ = send.send(outcome);
            }),
        );
        receive.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub(crate) fn grouping(&self) -> Grouping {
        self.0.state().grouping
    }

    /// Ends the committer once everything queued is written.
    pub(crate) fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        wake(state);
    }

    /// Completes when it has ended: everything that was queued is written, and nothing more will be.
    pub(crate) async fn ended(&self) {
        poll_fn(|context| {
            let mut state = self.0.state();
            if state.ended && state.sending == 0 {
                return Poll::Ready(());
            }
            state.idle = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The committer's task. However it ends, nobody goes on waiting for it.
    pub(crate) fn run(
        self,
        store: Arc<dyn Store>,
        runtime: Arc<dyn Runtime>,
        watchers: Arc<Watchers>,
        reach: Arc<Reach>,
        senders: Vec<NodeId>,
    ) -> impl Future<Output = ()> + Send {
        self.0.state().under_way = (senders.len() > 1).then(UnderWay::default);
        let running = Running(self);
        async move {
            let lanes = senders.into_iter().map(|node| Lane {
                committer: &running.0,
                store: &*store,
                runtime: &*runtime,
                watchers: &watchers,
                reach: &reach,
                sender: Sender::new(node),
            });
            join_all(lanes.map(Lane::run)).await;
        }
    }

    /// Takes what may be sent now, in exchange for an empty batch; false once nothing will ever come.
    pub(crate) async fn take(&self, batch: &mut Batch) -> bool {
        poll_fn(|context| {
            let mut guard = self.0.state();
            let state = &mut *guard;
            if state.queued.len() > 0 && state.take(batch) {
                return Poll::Ready(true);
            }
            if state.ended {
                return Poll::Ready(false);
            }
            if state.closed && state.queued.len() == 0 && state.sending == 0 {
                state.ended = true;
                // The other lanes look again.
                wake(guard);
                return Poll::Ready(false);
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// A batch is written, and everybody has been told.
    pub(crate) fn landed(&self, batch: &mut Batch) {
        let mut state = self.0.state();
        if let Some(under_way) = &mut state.under_way {
            under_way.landed(batch);
        }
        state.sending -= 1;
        self.rest(state);
    }

    fn rest(&self, mut state: MutexGuard<'_, State>) {
        let idle = if state.sending == 0 {
            state.idle.take()
        } else {
            None
        };
        wake(state);
        if let Some(idle) = idle {
            idle.wake();
        }
    }
}

impl State {
    /// Whether what is queued may go now.
    fn may_send(&self) -> bool {
        let under_way = self.under_way.as_ref();
        under_way.is_none_or(|under_way| under_way.may_send(self.queued.len()))
    }

    fn take(&mut self, batch: &mut Batch) -> bool {
        match &mut self.under_way {
            None => std::mem::swap(&mut self.queued, batch),
            Some(under_way) => under_way.send(&mut self.queued, batch),
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

/// The committer while it runs.
struct Running(Committer);

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.0.state();
        state.ended = true;
        let mut queued = std::mem::take(&mut state.queued);
        drop(state);
        queued.tell(std::iter::repeat_with(|| Err(stopped())));
        let mut state = self.0.0.state();
        state.sending = 0;
        self.0.rest(state);
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable {
        detail: "the engine has stopped".to_owned(),
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}
