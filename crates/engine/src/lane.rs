//! A lane of the committer: sends one batch at a time, again if need be, and tells everybody what became of it.

use std::time::Duration;

use everstep_model::NodeId;
use everstep_store::{Commit, CommitId, Outcome, Store, StoreError};

use crate::committer::{Batch, Committer};
use crate::reach::Reach;
use crate::runtime::Runtime;
use crate::watch::Watchers;

/// How long to wait before sending a batch again whose outcome is unknown.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// After how many times the store counts as away: a server that is replaced at once costs nobody a refusal.
const AWAY_AFTER: u32 = 5;
/// How often to send it again before giving up.
const RETRIES_MAX: u32 = 50;

/// Batches on their way to a shared store at a time: one is written while the other is synced or told.
const LANES: usize = 2;

/// Under which names batches are sent: the node's own, and others where several travel at a time. A store knows commits that
/// are sent again by their sender, which must not send the next ones before.
pub(crate) fn senders(store: &dyn Store, runtime: &dyn Runtime, node: NodeId) -> Vec<NodeId> {
    let lanes = if store.describe().exclusive { 1 } else { LANES };
    let others = (1..lanes).map(|_| NodeId(runtime.random()));
    std::iter::once(node).chain(others).collect()
}

/// One of those who send batches.
pub(crate) struct Lane<'a> {
    pub(crate) committer: &'a Committer,
    pub(crate) store: &'a dyn Store,
    pub(crate) runtime: &'a dyn Runtime,
    pub(crate) watchers: &'a Watchers,
    pub(crate) reach: &'a Reach,
    pub(crate) sender: Sender,
}

impl Lane<'_> {
    pub(crate) async fn run(mut self) {
        let mut batch = Batch::default();
        while self.committer.take(&mut batch).await {
            let written = self.write(batch.commits()).await;
            self.tell(&mut batch, written);
            self.committer.landed(&mut batch);
        }
    }

    /// Writes a batch. An unknown outcome is resolved by sending the same batch again; a store that is beyond repair is
    /// not asked twice.
    async fn write(&mut self, commits: &mut [Commit]) -> Result<Vec<Outcome>, StoreError> {
        // Exclusive stores fail for good, so nothing is sent to them twice.
        if self.store.describe().exclusive {
            return self.store.commit(commits).await;
        }
        self.sender.number(commits);
        let mut tries = 0;
        loop {
            match self.store.commit(commits).await {
                Err(StoreError::Unavailable { detail }) if tries < RETRIES_MAX => {
                    tries += 1;
                    tracing::warn!(%detail, tries, "the store is unavailable; the batch is sent again");
                    if tries >= AWAY_AFTER {
                        self.reach.lost(&StoreError::Unavailable { detail });
                    }
                    self.runtime.sleep(RETRY_DELAY).await;
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

    /// Tells everybody what became of a batch.
    fn tell(&self, batch: &mut Batch, written: Result<Vec<Outcome>, StoreError>) {
        match written {
            Ok(outcomes) => {
                self.watchers.store_works();
                batch.tell(outcomes.into_iter().map(Ok));
            }
            Err(error) => {
                tracing::error!(%error, commits = batch.len(), "a batch could not be written");
                // A shared store that is out of reach may come back, and the runs with it.
                let is_exclusive = self.store.describe().exclusive;
                if is_exclusive || !matches!(error, StoreError::Unavailable { .. }) {
                    self.watchers.store_failed(&error);
                }
                batch.tell(std::iter::repeat_with(|| Err(error.clone())));
            }
        }
    }
}

/// Numbers the commits of a lane.
pub(crate) struct Sender {
    node: NodeId,
    /// How many commits were numbered.
    sent: u64,
}

impl Sender {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, sent: 0 }
    }

    /// Numbers a batch, so that it takes effect once however often it is sent.
    fn number(&mut self, commits: &mut [Commit]) {
        for commit in commits {
            self.sent += 1;
            commit.set_id(CommitId {
                node: self.node,
                number: self.sent,
            });
        }
    }
}
