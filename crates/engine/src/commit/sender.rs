//! A sender task of the committer: sends one batch at a time, retries it if its outcome is unknown,
//! and passes the outcomes to the callers.

use std::time::Duration;

use everstep_model::NodeId;
use everstep_store::{Commit, CommitId, Outcome, StoreError};

use super::availability::StoreAvailability;
use super::batch::Batch;
use super::feed_marks::FeedMarks;
use super::queue::Queue;
use crate::node::Node;
use crate::observers::Watchers;

/// The delay before a batch with an unknown outcome is sent again.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// The number of failed attempts after which the store counts as unavailable. A database server
/// that is replaced quickly causes no rejected requests.
const UNAVAILABLE_AFTER: u32 = 5;
const RETRIES_MAX: u32 = 50;

/// The number of senders to a shared store: one batch is written while the outcomes of the other
/// are synced or passed on.
const SENDERS: usize = 2;

/// Returns the ids under which batches are sent: the node's own, and one more for each further
/// sender. A store recognises repeated commits by their sender, which must not send the next batch
/// before the outcome of the last one is known.
pub(super) fn sender_ids(node: &Node) -> Vec<NodeId> {
    let senders = if node.is_shared { SENDERS } else { 1 };
    let others = (1..senders).map(|_| NodeId(node.runtime.random()));
    std::iter::once(node.id).chain(others).collect()
}

pub(super) struct Sender<'a> {
    pub(super) queue: &'a Queue,
    pub(super) node: &'a Node,
    pub(super) watchers: &'a Watchers,
    pub(super) availability: &'a StoreAvailability,
    pub(super) feeds: &'a FeedMarks,
    pub(super) id: NodeId,
    /// The number of the last commit that was sent.
    pub(super) last_number: u64,
}

impl Sender<'_> {
    pub(super) async fn run(mut self) {
        let mut batch = Batch::default();
        while self.queue.take(&mut batch).await {
            let is_marked = self.feeds.mark(batch.commits());
            let written = self.write(batch.commits()).await;
            self.reply(&mut batch, written);
            self.queue.landed(&mut batch);
            if is_marked {
                self.feeds.marked.notify_one();
            }
        }
    }

    /// Writes a batch. If the outcome is unknown, sends the same batch again.
    async fn write(&mut self, commits: &mut [Commit]) -> Result<Vec<Outcome>, StoreError> {
        // Errors of exclusive stores are permanent, so nothing is retried.
        if !self.node.is_shared {
            return self.node.store.commit(commits).await;
        }
        self.number(commits);
        let mut attempts = 0;
        loop {
            match self.node.store.commit(commits).await {
                Err(StoreError::Unavailable { detail }) if attempts < RETRIES_MAX => {
                    attempts += 1;
                    tracing::warn!(%detail, attempts, "store unavailable, retrying the batch");
                    if attempts >= UNAVAILABLE_AFTER {
                        let error = StoreError::Unavailable { detail };
                        self.availability.mark_unavailable(&error);
                    }
                    self.node.runtime.sleep(RETRY_DELAY).await;
                }
                outcome => {
                    if outcome.is_ok() {
                        self.availability.mark_available();
                    }
                    return outcome;
                }
            }
        }
    }

    /// Numbers commits, so that each takes effect once even if it is sent repeatedly.
    fn number(&mut self, commits: &mut [Commit]) {
        for commit in commits {
            self.last_number += 1;
            commit.set_id(CommitId {
                node: self.id,
                number: self.last_number,
            });
        }
    }

    fn reply(&self, batch: &mut Batch, written: Result<Vec<Outcome>, StoreError>) {
        match written {
            Ok(outcomes) => {
                self.watchers.store_works();
                batch.reply(outcomes.into_iter().map(Ok));
            }
            Err(error) => {
                // A shared store that is unavailable may return, and the runs with it.
                match matches!(error, StoreError::Unavailable { .. }) && self.node.is_shared {
                    true => tracing::error!(%error, commits = batch.len(), "cannot write a batch"),
                    false => self.watchers.store_failed(&error),
                }
                batch.reply(std::iter::repeat_with(|| Err(error.clone())));
            }
        }
    }
}
