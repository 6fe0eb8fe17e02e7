//! The store of a simulation: the memory store or another one, with a bug in front of it if one is planted there. Whoever keeps the books sees the
//! commits as they were sent and the answers as they were given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_model::planted::Bug;
use everstep_model::{NodeId, StreamNumber, Timestamp};
use everstep_store::{
    BoxFuture, Clock, Commit, Count, Description, Head, Lease, ListPage, ListQuery, MemoryStore,
    OutboxRow, Outcome, Page, ReadRequest, ReadyRun, Row, RowKey, RowRange, SharedRow, Store,
    StoreError, StreamRef, TimerQuery, TimerRow,
};
use futures_util::FutureExt as _;

use super::{fencing, forgetting, guards};
use crate::stores::Stores;

/// The store of a simulation.
pub struct PlantedStore {
    bug: Option<Bug>,
    clock: Arc<StoreClock>,
    inner: Mutex<Arc<dyn Store>>,
    memory: Mutex<Memory>,
}

/// What a store with a bug remembers, or has forgotten.
#[derive(Default)]
pub(super) struct Memory {
    /// The nonce of every right that was ever granted.
    pub(super) granted: BTreeSet<(StreamNumber, u64)>,
    /// Streams whose fence went with a compaction.
    pub(super) unfenced: BTreeSet<StreamNumber>,
    /// Who holds each run or held it last, and how often it went to another node.
    pub(super) holders: BTreeMap<StreamNumber, (NodeId, u64)>,
}

/// The store's clock, which can be set back to repeat a history.
struct StoreClock {
    true_clock: Arc<dyn Clock>,
    /// The time it shows, if it is not the true one.
    then: AtomicU64,
}

impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        match self.then.load(Ordering::Relaxed) {
            0 => self.true_clock.now(),
            then => Timestamp::from_millis(then),
        }
    }
}

impl PlantedStore {
    /// An empty store with this bug, or with none.
    pub fn new(true_clock: Arc<dyn Clock>, bug: Option<Bug>, stores: &dyn Stores) -> Self {
        let clock = Arc::new(StoreClock {
            true_clock,
            then: AtomicU64::new(0),
        });
        Self {
            bug,
            inner: Mutex::new(stores.empty(clock.clone())),
            clock,
            memory: Mutex::default(),
        }
    }

    pub(super) fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// The store behind it.
    pub(super) fn inner(&self) -> Arc<dyn Store> {
        lock(&self.inner).clone()
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    /// Begins again as an empty store, does something to it at times of the past, and goes on with what that led to.
    pub(super) fn begin_again(&self, replay: impl FnOnce(&MemoryStore, &dyn Fn(Timestamp))) {
        let fresh = MemoryStore::new(self.clock.clone());
        let set = |then: Timestamp| self.clock.then.store(then.as_millis(), Ordering::Relaxed);
        replay(&fresh, &set);
        self.clock.then.store(0, Ordering::Relaxed);
        *lock(&self.inner) = Arc::new(fresh);
    }

    pub(super) fn head_of(&self, stream: StreamNumber) -> Option<Head> {
        at_once(self.inner().head(StreamRef::Number(stream)))
            .ok()
            .flatten()
    }

    /// A batch as this store takes it when it is sent.
    pub(crate) fn when_sent(&self, batch: &[Commit]) -> Option<Vec<Commit>> {
        self.has(Bug::KeyCheckedOutside)
            .then(|| guards::keys_looked_up(self, batch))
    }

    fn commit_with_bug(&self, bug: Bug, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        let mut taken: Vec<Commit> = batch.to_vec();
        for commit in &mut taken {
            match bug {
                Bug::NoEpochCheck | Bug::NoNonceCheck | Bug::FenceDroppedByCompaction => {
                    fencing::overlook(self, bug, commit);
                }
                Bug::ResultAfterTerminate => fencing::terminate_weakly(commit),
                Bug::DedupForgottenAtTakeover => forgetting::forget_dedup(self, commit),
                Bug::TimerFiredTwice | Bug::ReadyClearedUnguarded => {
                    guards::overlook(bug, commit);
                }
                _ => {}
            }
        }
        let outcomes = at_once(self.inner().commit(&taken))?;
        for (commit, outcome) in batch.iter().zip(&outcomes) {
            self.remember(commit, outcome);
        }
        Ok(outcomes)
    }

    fn remember(&self, commit: &Commit, outcome: &Outcome) {
        if let Outcome::Committed { stream, taken, .. } = outcome {
            let mut memory = self.memory();
            fencing::remember(&mut memory, commit, *stream, *taken);
            forgetting::remember(&mut memory, commit, *stream, *taken);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stores of worlds answer at once.
pub(crate) fn at_once<T>(answer: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
    let never = || {
        Err(StoreError::Unavailable {
            detail: "it did not answer".to_owned(),
        })
    };
    answer.now_or_never().unwrap_or_else(never)
}

fn done<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(answer))
}

macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($argument: $type),*) -> BoxFuture<'_, Result<$answer, StoreError>> {
            done(at_once(self.inner().$method($($argument),*)))
        })*
    };
}

impl Store for PlantedStore {
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
        renew(lease: Lease) -> ();
        retire(node: NodeId) -> ();
    }

    fn commit<'a>(
        &'a self,
        batch: &'a [Commit],
    ) -> BoxFuture<'a, Result<Vec<Outcome>, StoreError>> {
        done(match self.bug {
            Some(bug) => self.commit_with_bug(bug, batch),
            None => at_once(self.inner().commit(batch)),
        })
    }

    fn describe(&self) -> Description {
        self.inner().describe()
    }
}
