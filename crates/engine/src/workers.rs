//! Who executes workflow code for an engine: the workers it was opened with, and those that come and go.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use everstep_model::Name;

use crate::activation::{Offer, Worker};
use crate::core::Core;
use crate::engine::Engine;
use crate::error::OfferError;
use crate::roles::Role;

/// The workers of an engine, by workflow.
#[derive(Default)]
pub(crate) struct Workers(RwLock<State>);

#[derive(Default)]
struct State {
    by_workflow: HashMap<Name, Vec<Offering>>,
    next: u64,
}

struct Offering {
    id: u64,
    versions: RangeInclusive<u32>,
    worker: Arc<dyn Worker>,
}

impl Workers {
    pub(crate) fn of(workers: Vec<Arc<dyn Worker>>) -> Self {
        let all = Self::default();
        for worker in workers {
            all.add(&worker);
        }
        all
    }

    fn add(&self, worker: &Arc<dyn Worker>) -> u64 {
        let mut state = self.change();
        let id = state.next;
        state.next += 1;
        for Offer { workflow, versions } in worker.offers() {
            let offering = Offering {
                id,
                versions,
                worker: worker.clone(),
            };
            state
                .by_workflow
                .entry(workflow)
                .or_default()
                .push(offering);
        }
        id
    }

    /// Everybody who offers something, in the order of their coming.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Worker>> {
        let state = self.look();
        let offerings = state.by_workflow.values().flatten();
        let by_id: BTreeMap<u64, Arc<dyn Worker>> = offerings
            .map(|offering| (offering.id, offering.worker.clone()))
            .collect();
        by_id.into_values().collect()
    }

    /// What is offered, by whomever.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let state = self.look();
        let mut offers = Vec::new();
        for (workflow, offerings) in &state.by_workflow {
            offers.extend(offerings.iter().map(|offering| Offer {
                workflow: workflow.clone(),
                versions: offering.versions.clone(),
            }));
        }
        offers
    }

    fn remove(&self, id: u64) {
        self.change().by_workflow.retain(|_, offerings| {
            offerings.retain(|offering| offering.id != id);
            !offerings.is_empty()
        });
    }

    /// Who executes this version of a workflow; somebody who has room, if there is one.
    pub(crate) fn find(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Worker>> {
        let state = self.look();
        let offerings = state.by_workflow.get(workflow)?;
        let fitting = || {
            let all = offerings.iter();
            all.filter(|offering| offering.versions.contains(&version))
        };
        let found = fitting().find(|offering| !offering.worker.is_full());
        let found = found.or_else(|| fitting().next())?;
        Some(found.worker.clone())
    }

    /// The newest version of a workflow that somebody executes.
    pub(crate) fn newest(&self, workflow: &Name) -> Option<u32> {
        let state = self.look();
        let offerings = state.by_workflow.get(workflow)?.iter();
        offerings.map(|offering| *offering.versions.end()).max()
    }

    /// The workflows that somebody executes.
    pub(crate) fn workflows(&self) -> Vec<Name> {
        let mut workflows: Vec<Name> = self.look().by_workflow.keys().cloned().collect();
        workflows.sort();
        workflows
    }

    fn look(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that is offered to an engine. Dropping it takes the offer back: the worker gets no more runs, and keeps those
/// it has.
pub struct Offered {
    core: Weak<Core>,
    id: u64,
}

impl Drop for Offered {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.workers.remove(self.id);
        }
    }
}

impl std::fmt::Debug for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Offered({})", self.id)
    }
}

impl Engine {
    /// Offers a worker to a running engine. Runs that waited for one like it are executed; what it describes is remembered
    /// after it is gone, so that runs can be started while nobody executes them.
    ///
    /// # Errors
    /// If the store fails, or the engine shuts down.
    pub async fn offer(&self, worker: Arc<dyn Worker>) -> Result<Offered, OfferError> {
        self.core.check_open()?;
        if !self.core.is(Role::Worker) {
            return Err(OfferError::NoWorkerRole);
        }
        self.core.remember(&*worker).await?;
        let offered = Offered {
            core: Arc::downgrade(&self.core),
            id: self.core.workers.add(&worker),
        };
        self.look_for_runs();
        Ok(offered)
    }

    /// Looks for runs that have something to do and that nobody executes: a worker has come, or one has room again that was
    /// full.
    pub fn look_for_runs(&self) {
        let core = self.core.clone();
        self.core.spawn(Box::pin(async move {
            if let Err(error) = core.recover().await {
                tracing::warn!(%error, "runs that waited for a worker were not picked up; sweeping will find them");
            }
        }));
    }
}
