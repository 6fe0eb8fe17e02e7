//! A store that can be unplugged: what a crashed process still tries to read or write fails, as if it were gone. A
//! witness sees each commit, and may have the process die before or after it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::{NodeId, StreamNumber};
use everstep_store::{
    BoxFuture, Commit, Count, Description, Head, Lease, ListPage, ListQuery, OutboxRow, Outcome,
    Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store, StoreError, StreamRef,
    TimerQuery, TimerRow,
};

/// Whether a process lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It does.
    Lives,
    /// It dies here: it does nothing more, and hears of nothing.
    Dies,
}

/// Sees every commit of a process, one by one.
pub(super) trait Witness: Send + Sync {
    /// The commit is about to be made. It has no effect if the process dies here.
    fn before(&self, commit: &Commit) -> Fate;

    /// The commit was made. Its process does not hear of it if it dies here.
    fn after(&self, commit: &Commit, outcome: &Outcome) -> Fate;
}

/// A store in the hands of one process.
pub(super) struct Plug {
    description: Description,
    commits: AtomicU64,
    witness: Option<Arc<dyn Witness>>,
    state: Mutex<State>,
}

struct State {
    store: Option<Arc<dyn Store>>,
    nodes: Vec<NodeId>,
}

impl State {
    fn know(&mut self, node: NodeId) {
        if !self.nodes.contains(&node) {
            self.nodes.push(node);
        }
    }
}

impl Plug {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            description: store.describe(),
            commits: AtomicU64::new(0),
            witness: None,
            state: Mutex::new(State {
                store: Some(store),
                nodes: Vec::new(),
            }),
        }
    }

    /// The same, with somebody who looks on and decides when the process dies.
    pub(super) fn watched_by(mut self, witness: Arc<dyn Witness>) -> Self {
        self.witness = Some(witness);
        self
    }

    /// How many commits its process has sent.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Takes the store from its process, and gives up the leases that would have died with it.
    pub(super) async fn unplug(&self) {
        let (store, nodes) = {
            let mut state = self.state();
            (state.store.take(), std::mem::take(&mut state.nodes))
        };
        let Some(store) = store else { return };
        for node in nodes {
            if let Err(error) = store.retire(node).await {
                tracing::warn!(%error, "the lease of a crashed process could not be given up");
            }
        }
    }

    fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        self.state()
            .store
            .clone()
            .ok_or_else(|| StoreError::Unavailable {
                detail:
                    "the process that asks was restarted; take a new handle from the test engine"
                        .to_owned(),
            })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits one by one, so that a process may die between any two commits of a batch.
async fn commit_watched(
    store: &dyn Store,
    batch: &[Commit],
    witness: &dyn Witness,
) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes = Vec::with_capacity(batch.len());
    for commit in batch {
        live_on(witness.before(commit)).await;
        for outcome in store.commit(std::slice::from_ref(commit)).await? {
            live_on(witness.after(commit, &outcome)).await;
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

/// The end of a process, as its own code sees it: nothing happens any more.
async fn live_on(fate: Fate) {
    if fate == Fate::Dies {
        std::future::pending::<()>().await;
    }
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($argument: $type),*) -> BoxFuture<'_, Result<$answer, StoreError>> {
            Box::pin(async move {
                let store = self.store()?;
                store.$method($($argument),*).await
            })
        })*
    };
}

impl Store for Plug {
    pass_on! {
        head(stream: StreamRef) -> Option<Head>;
        read(request: ReadRequest) -> Option<Page>;
        list(query: ListQuery) -> ListPage;
        count(query: ListQuery) -> Count;
        rows(range: RowRange) -> Vec<SharedRow>;
        timers(query: TimerQuery) -> Vec<TimerRow>;
        ready(after: Option<StreamNumber>, limit: usize) -> Vec<ReadyRun>;
        outbox(after: Option<(StreamNumber, String)>, limit: usize) -> Vec<OutboxRow>;
        row(key: RowKey) -> Option<Row>;
        retire(node: NodeId) -> ();
    }

    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        Box::pin(async move {
            let store = self.store()?;
            self.commits.fetch_add(batch.len() as u64, Ordering::AcqRel);
            match &self.witness {
                Some(witness) => commit_watched(&*store, batch, &**witness).await,
                None => store.commit(batch).await,
            }
        })
    }

    fn renew(&self, lease: Lease) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let store = self.store()?;
            self.state().know(lease.node);
            store.renew(lease).await
        })
    }

    fn describe(&self) -> Description {
        self.description.clone()
    }
}
