//! The store of one test process. It can be unplugged, so that the calls of a crashed process fail.
//! An observer sees each commit and can let the process crash before or after it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::NodeId;
use everstep_store::{
    Answer, BoxFuture, Call, Commit, Description, Intercept, Outcome, Store, StoreError,
};

/// Whether a process survives a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Survival {
    Continues,
    /// The call does not return, and the process does nothing else.
    Crashes,
}

/// Sees every commit of a process, one by one.
pub(super) trait CommitObserver: Send + Sync {
    /// Runs before the commit. If the process crashes, the commit has no effect.
    fn before(&self, commit: &Commit) -> Survival;

    /// Runs after the commit. If the process crashes, it does not receive the outcome.
    fn after(&self, commit: &Commit, outcome: &Outcome) -> Survival;
}

/// The connection of one process to its store.
pub(super) struct Plug {
    description: Description,
    commits: AtomicU64,
    observer: Option<Arc<dyn CommitObserver>>,
    state: Mutex<State>,
}

struct State {
    /// None once unplugged. Dropping the store releases the lock of its directory.
    store: Option<Arc<dyn Store>>,
    /// The nodes that hold a lease.
    nodes: Vec<NodeId>,
}

impl Plug {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            description: store.describe(),
            commits: AtomicU64::new(0),
            observer: None,
            state: Mutex::new(State {
                store: Some(store),
                nodes: Vec::new(),
            }),
        }
    }

    pub(super) fn observed_by(mut self, observer: Arc<dyn CommitObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The number of commits that the process has sent.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Disconnects the process and ends its leases.
    pub(super) async fn unplug(&self) {
        let (store, nodes) = {
            let mut state = self.state();
            (state.store.take(), std::mem::take(&mut state.nodes))
        };
        let Some(store) = store else { return };
        for node in nodes {
            if let Err(error) = store.retire(node).await {
                tracing::warn!(%error, "failed to end the lease of a crashed process");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intercept for Plug {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        let store = self.state().store.clone();
        store.ok_or_else(|| StoreError::Unavailable {
            detail: "this process was restarted; take a new handle from the test engine".to_owned(),
        })
    }

    fn description(&self) -> Description {
        self.description.clone()
    }

    fn before(&self, call: &Call) -> Result<(), StoreError> {
        match call {
            Call::Commit { batch } => {
                self.commits.fetch_add(batch.len() as u64, Ordering::AcqRel);
            }
            Call::Renew { lease } => {
                let nodes = &mut self.state().nodes;
                if !nodes.contains(&lease.node) {
                    nodes.push(lease.node);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        Box::pin(async move {
            let store = self.target()?;
            self.before(&call)?;
            match (call, &self.observer) {
                (Call::Commit { batch }, Some(observer)) => {
                    let outcomes = commit_observed(&*store, &batch, &**observer).await?;
                    Ok(Answer::Commit(outcomes))
                }
                (call, _) => call.perform(&*store).await,
            }
        })
    }
}

/// Commits one by one, so that a process can crash between any two commits of a batch.
async fn commit_observed(
    store: &dyn Store,
    batch: &[Commit],
    observer: &dyn CommitObserver,
) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes = Vec::with_capacity(batch.len());
    for commit in batch {
        hang_if_crashed(observer.before(commit)).await;
        for outcome in store.commit(std::slice::from_ref(commit)).await? {
            hang_if_crashed(observer.after(commit, &outcome)).await;
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

async fn hang_if_crashed(survival: Survival) {
    if survival == Survival::Crashes {
        std::future::pending::<()>().await;
    }
}
