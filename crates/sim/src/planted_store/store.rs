//! The store of a simulation. The expected journals see the commits as they were sent and the
//! answers as they were given, whatever a planted bug does in between.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_model::Timestamp;
use everstep_model::planted::Bug;
use everstep_store::{
    Answer, BoxFuture, Call, Clock, Commit, Description, Intercept, MemoryStore, Outcome, Store,
    StoreError,
};
use everstep_store_testkit::TestClock;

use super::memory::Memory;
use super::{fencing, forgetting, guards};
use crate::observed::{History, StoreChange};
use crate::stores::{ReplaceableClock, Stores, at_once};

/// The interval of syncs of a store that does not wait for them.
const SYNCS_EVERY: Duration = Duration::from_secs(1);

/// The store of a simulation, with or without a planted bug.
pub struct PlantedStore {
    bug: Option<Bug>,
    clock: Arc<ReplaceableClock>,
    inner: Mutex<Arc<dyn Store>>,
    memory: Mutex<Memory>,
}

impl PlantedStore {
    pub fn new(true_clock: Arc<dyn Clock>, bug: Option<Bug>, stores: &dyn Stores) -> Self {
        let clock = Arc::new(ReplaceableClock::new(true_clock));
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

    /// Returns the wrapped store.
    pub(super) fn inner(&self) -> Arc<dyn Store> {
        lock(&self.inner).clone()
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    /// Replaces the store by an empty one and fills it. `replay` can set the clock to times of the
    /// past.
    fn begin_again(&self, replay: impl FnOnce(&MemoryStore, &TestClock)) {
        let past = Arc::new(TestClock::new());
        let true_clock = self.clock.replace(past.clone());
        let fresh = MemoryStore::new(self.clock.clone());
        replay(&fresh, &past);
        self.clock.replace(true_clock);
        *lock(&self.inner) = Arc::new(fresh);
    }

    /// Returns the batch as it is judged, if a bug changes it when it is sent.
    pub(crate) fn when_sent(&self, batch: &[Commit]) -> Option<Vec<Commit>> {
        self.has(Bug::KeyCheckedOutside)
            .then(|| guards::without_free_keys(&*self.inner(), batch))
    }

    /// Crashes the store. With the bug it loses acknowledged commits that are not synced yet.
    pub(crate) fn crash(&self, history: &mut History, now: Timestamp) {
        if !self.has(Bug::AckBeforeDurable) {
            return;
        }
        let is_synced = |at: Timestamp| at.until(now) >= SYNCS_EVERY;
        history.retain(is_synced);
        self.begin_again(|store, clock| {
            for (at, change) in history.all() {
                clock.set(*at);
                match change {
                    StoreChange::Commit(batch, _) => drop(store.commit(batch)),
                    StoreChange::Renew(lease) => drop(store.renew(*lease)),
                    StoreChange::Retire(node) => drop(store.retire(*node)),
                }
            }
        });
    }

    fn commit_with_bug(&self, bug: Bug, batch: &[Commit]) -> Result<Vec<Outcome>, StoreError> {
        let mut taken: Vec<Commit> = batch.to_vec();
        for commit in &mut taken {
            match bug {
                Bug::NoEpochCheck | Bug::NoNonceCheck | Bug::FenceDroppedByCompaction => {
                    fencing::overlook(&*self.inner(), &self.memory(), bug, commit);
                }
                Bug::ResultAfterTerminate => fencing::terminate_weakly(commit),
                Bug::DedupForgottenAtTakeover => forgetting::forget_dedup(&self.memory(), commit),
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

impl Intercept for PlantedStore {
    fn target(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(self.inner())
    }

    fn description(&self) -> Description {
        self.inner().describe()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Answer, StoreError>> {
        let answer = match (call, self.bug) {
            (Call::Commit { batch }, Some(bug)) => {
                self.commit_with_bug(bug, &batch).map(Answer::Commit)
            }
            (call, _) => at_once(call.perform(&*self.inner())),
        };
        Box::pin(std::future::ready(answer))
    }
}
