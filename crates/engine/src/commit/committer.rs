//! The group committer: queues commits and sends them in batches.
//!
//! While a batch is synced the next one gathers, so batches grow with the load, and an idle engine
//! waits for nothing. Replies are called after `Store::commit` has returned, so a commit is never
//! reported before it is durable. To a shared store, which has a higher latency, a second batch may
//! be in flight beside the first (`in_flight.rs`).

use std::sync::Arc;

use everstep_model::NodeId;
use everstep_store::{Commit, Outcome, StoreError};
use futures_util::future::join_all;
use tokio::sync::oneshot;

use super::availability::StoreAvailability;
use super::batch::Reply;
use super::feed_marks::FeedMarks;
use super::queue::{Grouping, Queue, stopped};
use super::sender::{Sender, sender_ids};
use crate::error::Unavailable;
use crate::node::Node;
use crate::observers::Watchers;

/// Queues commits to the store. The committer ends when the last reference to this handle is
/// dropped.
pub(crate) struct Committer {
    pub(super) node: Arc<Node>,
    queue: Arc<Queue>,
    availability: Arc<StoreAvailability>,
    pub(crate) feeds: Arc<FeedMarks>,
    /// The ids under which batches are sent. The first is the node's own.
    senders: Vec<NodeId>,
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Committer {
    pub(crate) fn new(node: Arc<Node>, availability: Arc<StoreAvailability>) -> Self {
        let senders = sender_ids(&node);
        let queue = Arc::<Queue>::default();
        if senders.len() > 1 {
            queue.allow_several_in_flight();
        }
        Self {
            feeds: Arc::new(FeedMarks::new(node.clone())),
            node,
            queue,
            availability,
            senders,
        }
    }

    /// Returns the task that runs the senders. However it ends, no caller is left waiting.
    pub(crate) fn task(&self, watchers: Arc<Watchers>) -> impl Future<Output = ()> + Send + use<> {
        let running = Running(self.queue.clone());
        let (node, availability) = (self.node.clone(), self.availability.clone());
        let (senders, feeds) = (self.senders.clone(), self.feeds.clone());
        async move {
            let senders = senders.into_iter().map(|id| Sender {
                queue: &running.0,
                node: &node,
                watchers: &watchers,
                availability: &availability,
                feeds: &feeds,
                id,
                last_number: 0,
            });
            join_all(senders.map(Sender::run)).await;
        }
    }

    /// Rejects requests that cannot be committed.
    pub(crate) fn check_open(&self) -> Result<(), Unavailable> {
        if self.node.is_closing() {
            return Err(Unavailable::ShuttingDown);
        }
        Ok(self.availability.check()?)
    }

    /// Queues a commit. Once the committer has ended, calls the reply at once.
    pub(crate) fn submit(&self, commit: impl Into<Commit>, reply: Reply) {
        self.queue.push(commit.into(), reply);
    }

    /// Queues a commit and waits for its outcome.
    pub(crate) async fn commit(&self, commit: impl Into<Commit>) -> Result<Outcome, StoreError> {
        self.commit_with(commit, |_| {}).await
    }

    /// Queues a commit and waits for its outcome. `then` sees the outcome before any later commit
    /// is reported.
    pub(crate) async fn commit_with(
        &self,
        commit: impl Into<Commit>,
        then: impl FnOnce(&Result<Outcome, StoreError>) + Send + 'static,
    ) -> Result<Outcome, StoreError> {
        let (send, receive) = oneshot::channel();
        let reply = move |_: &mut Commit, outcome| {
            then(&outcome);
            let _ = send.send(outcome);
        };
        self.submit(commit, Box::new(reply));
        receive.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Queues commits to one stream, which are written in one batch, in this order and with nothing
    /// in between, and waits for their outcomes.
    pub(crate) async fn commit_all(
        &self,
        commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let mut receivers = Vec::with_capacity(commits.len());
        let queued = commits.into_iter().map(|commit| {
            let (send, receive) = oneshot::channel();
            receivers.push(receive);
            let reply = move |_: &mut Commit, outcome| {
                let _ = send.send(outcome);
            };
            (commit, Box::new(reply) as Reply)
        });
        self.queue.push_all(queued)?;
        let mut outcomes = Vec::with_capacity(receivers.len());
        for receiver in receivers {
            outcomes.push(receiver.await.unwrap_or_else(|_| Err(stopped()))?);
        }
        Ok(outcomes)
    }

    pub(crate) fn grouping(&self) -> Grouping {
        self.queue.grouping()
    }

    /// Writes everything that is queued, ends the committer, and retires its senders. A store
    /// forgets what it has answered a sender that retires, so nothing may be in flight by then.
    pub(crate) async fn end(&self) {
        self.queue.close();
        self.queue.ended().await;
        for sender in &self.senders {
            if let Err(error) = self.node.store.retire(*sender).await {
                tracing::warn!(%error, "cannot release the lease, other nodes wait until it expires");
            }
        }
    }
}

/// The queue while the senders run.
struct Running(Arc<Queue>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
