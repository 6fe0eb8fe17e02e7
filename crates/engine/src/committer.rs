//! The group committer: one task that takes whatever is queued, commits it as one batch, and tells everybody.
//!
//! While a batch is being synced the next one gathers, so the group grows with the load and an idle engine waits for
//! nothing. Nobody hears of a commit before it is durable: replies are called after `Store::commit` returned.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use everstep_model::NodeId;
use everstep_store::{Commit, CommitId, Outcome, Store, StoreError};

use crate::reach::Reach;
use crate::runtime::Runtime;
use crate::watch::Watchers;

/// What a commit became, delivered once, and the commit itself, whose records are worth keeping.
pub(crate) type Reply = Box<dyn FnOnce(Commit, Result<Outcome, StoreError>) + Send>;

/// How long to wait before sending a batch again whose outcome is unknown.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// After how many times the store counts as away: a server that is replaced at once costs nobody a refusal.
const AWAY_AFTER: u32 = 5;
/// How often to send it again before giving up.
const RETRIES_MAX: u32 = 50;

/// For how many commits an empty queue keeps room.
const ROOM_KEPT: usize = 4_096;

#[derive(Clone, Default)]
pub(crate) struct Committer(Arc<Queue>);

#[derive(Default)]
struct Queue(Mutex<State>);

/// Commits and who waits for each. Emptied ones are filled again, so that a busy queue does not grow anew for each batch.
#[derive(Default)]
struct Batch {
    commits: Vec<Commit>,
    replies: Vec<Reply>,
}

impl Batch {
    fn push(&mut self, commit: Commit, reply: Reply) {
        self.commits.push(commit);
        self.replies.push(reply);
    }

    /// Gives back the memory that only a burst of commits needed.
    fn shrink(&mut self) {
        self.commits.shrink_to(ROOM_KEPT);
        self.replies.shrink_to(ROOM_KEPT);
    }

    fn drain(&mut self) -> impl ExactSizeIterator<Item = (Commit, Reply)> {
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
    busy: bool,
}

impl Committer {
    /// Queues a commit. Once the committer has ended, the reply says so at once.
    pub(crate) fn submit(&self, commit: Commit, reply: Reply) {
        let mut state = self.0.state();
        if state.ended {
            drop(state);
            return reply(commit, Err(stopped()));
        }
        state.queued.push(commit, reply);
        wake(state);
    }

    /// Queues commits that are written in one batch, in this order and with nothing in between, and waits for what they
    /// became.
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
                let reply = move |_, outcome| {
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
    pub(crate) async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
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
            if state.ended && !state.busy {
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
        node: NodeId,
    ) -> impl Future<Output = ()> + Send {
        let running = Running(self);
        async move {
            let committer = &running.0;
            let mut sender = Sender {
                node,
                sent: 0,
                reach,
            };
            let mut batch = Batch::default();
            while committer.take(&mut batch).await {
                let commits = &mut batch.commits;
                let written = sender.write(&*store, &*runtime, commits).await;
                tell(batch.drain(), written, &*store, &watchers);
                committer.rest();
            }
        }
    }

    /// Takes what is queued, in exchange for an empty batch; false once nothing will ever come.
    async fn take(&self, batch: &mut Batch) -> bool {
        poll_fn(|context| {
            let mut state = self.0.state();
            if !state.queued.commits.is_empty() {
                state.busy = true;
                state.grouping.batches += 1;
                state.grouping.commits += state.queued.commits.len() as u64;
                std::mem::swap(&mut state.queued, batch);
                state.queued.shrink();
                return Poll::Ready(true);
            }
            if state.closed {
                state.ended = true;
                return Poll::Ready(false);
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn rest(&self) {
        let mut state = self.0.state();
        state.busy = false;
        if state.queued.commits.is_empty()
            && let Some(idle) = state.idle.take()
        {
            drop(state);
            idle.wake();
        }
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
        for (commit, reply) in queued.drain() {
            reply(commit, Err(stopped()));
        }
        self.0.rest();
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

/// Tells everybody what became of a batch.
fn tell(
    batch: impl ExactSizeIterator<Item = (Commit, Reply)>,
    written: Result<Vec<Outcome>, StoreError>,
    store: &dyn Store,
    watchers: &Watchers,
) {
    match written {
        Ok(outcomes) => {
            watchers.store_works();
            for ((commit, reply), outcome) in batch.zip(outcomes) {
                reply(commit, Ok(outcome));
            }
        }
        Err(error) => {
            tracing::error!(%error, commits = batch.len(), "a batch could not be written");
            // A shared store that is out of reach may come back, and the runs with it.
            if store.describe().exclusive || !matches!(error, StoreError::Unavailable { .. }) {
                watchers.store_failed(&error);
            }
            for (commit, reply) in batch {
                reply(commit, Err(error.clone()));
            }
        }
    }
}

/// Sends batches, one at a time.
struct Sender {
    node: NodeId,
    /// How many commits were numbered.
    sent: u64,
    reach: Arc<Reach>,
}

impl Sender {
    /// Writes a batch. An unknown outcome is resolved by sending the same batch again; a store that is beyond repair is
    /// not asked twice.
    async fn write(
        &mut self,
        store: &dyn Store,
        runtime: &dyn Runtime,
        commits: &mut [Commit],
    ) -> Result<Vec<Outcome>, StoreError> {
        // Exclusive stores fail for good, so nothing is sent to them twice.
        if store.describe().exclusive {
            return store.commit(commits).await;
        }
        self.number(commits);
        let mut tries = 0;
        loop {
            match store.commit(commits).await {
                Err(StoreError::Unavailable { detail }) if tries < RETRIES_MAX => {
                    tries += 1;
                    if tries >= AWAY_AFTER {
                        let detail = detail.clone();
                        self.reach.lost(&StoreError::Unavailable { detail });
                    }
                    tracing::warn!(%detail, tries, "the store is unavailable; the batch is sent again");
                    runtime.sleep(RETRY_DELAY).await;
                }
                outcome => {
                    if outcome.is_ok() {
                        self.reach.found();
                    }
                    return outcome;
                }
            }
        }
    }

    /// Numbers a batch, so that it takes effect once however often it is sent.
    fn number(&mut self, commits: &mut [Commit]) {
        for commit in commits {
            self.sent += 1;
            commit.id = Some(CommitId {
                node: self.node,
                number: self.sent,
            });
        }
    }
}
