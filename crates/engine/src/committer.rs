//! The group committer: one task that takes whatever is queued, commits it as one batch, and tells everybody.
//!
//! While a batch is being synced the next one gathers, so the group grows with the load and an idle engine waits for
//! nothing. Nobody hears of a commit before it is durable: replies are called after `Store::commit` returned.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use everstep_store::{Commit, Outcome, Store, StoreError};

use crate::runtime::Runtime;

/// What a commit became, delivered once.
pub(crate) type Reply = Box<dyn FnOnce(Result<Outcome, StoreError>) + Send>;

/// How long to wait before sending a batch again whose outcome is unknown.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// How often to send it again before giving up.
const RETRIES_MAX: u32 = 50;

#[derive(Clone, Default)]
pub(crate) struct Committer(Arc<Queue>);

#[derive(Default)]
struct Queue(Mutex<State>);

#[derive(Default)]
struct State {
    commits: Vec<Commit>,
    replies: Vec<Reply>,
    closed: bool,
    waker: Option<Waker>,
    idle: Option<Waker>,
    busy: bool,
}

impl Committer {
    /// Queues a commit.
    pub(crate) fn submit(&self, commit: Commit, reply: Reply) {
        let mut state = self.0.state();
        state.commits.push(commit);
        state.replies.push(reply);
        wake(state);
    }

    /// Queues a commit and waits for what it became.
    pub(crate) async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        self.submit(
            commit,
            Box::new(move |outcome| {
                let _ = send.send(outcome);
            }),
        );
        receive.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                detail: "the engine has stopped".to_owned(),
            })
        })
    }

    /// Ends the committer once everything queued is written.
    pub(crate) fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        wake(state);
    }

    /// Completes when nothing is queued or being written.
    pub(crate) async fn drained(&self) {
        poll_fn(|context| {
            let mut state = self.0.state();
            if state.commits.is_empty() && !state.busy {
                return Poll::Ready(());
            }
            state.idle = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The committer's task.
    pub(crate) async fn run(self, store: Arc<dyn Store>, runtime: Arc<dyn Runtime>) {
        while let Some((commits, replies)) = self.next_batch().await {
            match write(&*store, &*runtime, commits).await {
                Ok(outcomes) => {
                    for (reply, outcome) in replies.into_iter().zip(outcomes) {
                        reply(Ok(outcome));
                    }
                }
                Err(error) => {
                    tracing::error!(%error, commits = replies.len(), "a batch could not be written");
                    for reply in replies {
                        reply(Err(error.clone()));
                    }
                }
            }
            self.rest();
        }
    }

    async fn next_batch(&self) -> Option<(Vec<Commit>, Vec<Reply>)> {
        poll_fn(|context| {
            let mut state = self.0.state();
            if !state.commits.is_empty() {
                state.busy = true;
                let commits = std::mem::take(&mut state.commits);
                return Poll::Ready(Some((commits, std::mem::take(&mut state.replies))));
            }
            if state.closed {
                return Poll::Ready(None);
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn rest(&self) {
        let mut state = self.0.state();
        state.busy = false;
        if state.commits.is_empty()
            && let Some(idle) = state.idle.take()
        {
            drop(state);
            idle.wake();
        }
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

/// Writes a batch. An unknown outcome is resolved by sending the same batch again; a store that is beyond repair is not
/// asked twice.
async fn write(
    store: &dyn Store,
    runtime: &dyn Runtime,
    commits: Vec<Commit>,
) -> Result<Vec<Outcome>, StoreError> {
    // Exclusive stores fail for good, so their batches are not copied for a second try.
    if store.describe().exclusive {
        return store.commit(commits).await;
    }
    let mut tries = 0;
    loop {
        match store.commit(commits.clone()).await {
            Err(StoreError::Unavailable { detail }) if tries < RETRIES_MAX => {
                tries += 1;
                tracing::warn!(%detail, tries, "the store is unavailable; the batch is sent again");
                runtime.sleep(RETRY_DELAY).await;
            }
            outcome => return outcome,
        }
    }
}
