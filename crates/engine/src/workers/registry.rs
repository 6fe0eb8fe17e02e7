//! The workers that offer workflows on this node: those it was opened with, and those that are
//! added and removed later.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use everstep_model::Name;

use super::activation::{Offer, Worker};

#[derive(Default)]
pub(super) struct Registry(RwLock<State>);

#[derive(Default)]
struct State {
    by_workflow: HashMap<Name, Vec<Registration>>,
    next_id: u64,
}

struct Registration {
    id: u64,
    versions: RangeInclusive<u32>,
    worker: Arc<dyn Worker>,
}

impl Registry {
    pub(super) fn add(self: &Arc<Self>, worker: &Arc<dyn Worker>) -> Offered {
        let mut state = self.write();
        let id = state.next_id;
        state.next_id += 1;
        for Offer { workflow, versions } in worker.offers() {
            let registrations = state.by_workflow.entry(workflow).or_default();
            registrations.push(Registration {
                id,
                versions,
                worker: worker.clone(),
            });
        }
        Offered {
            registry: Arc::downgrade(self),
            id,
        }
    }

    fn remove(&self, id: u64) {
        self.write().by_workflow.retain(|_, registrations| {
            registrations.retain(|registration| registration.id != id);
            !registrations.is_empty()
        });
    }

    /// Returns all workers, in the order in which they were added.
    pub(super) fn all(&self) -> Vec<Arc<dyn Worker>> {
        let state = self.read();
        let registrations = state.by_workflow.values().flatten();
        let by_id: BTreeMap<u64, Arc<dyn Worker>> = registrations
            .map(|registration| (registration.id, registration.worker.clone()))
            .collect();
        by_id.into_values().collect()
    }

    pub(super) fn offers(&self) -> Vec<Offer> {
        let state = self.read();
        let mut offers = Vec::new();
        for (workflow, registrations) in &state.by_workflow {
            offers.extend(registrations.iter().map(|registration| Offer {
                workflow: workflow.clone(),
                versions: registration.versions.clone(),
            }));
        }
        offers
    }

    /// Returns a worker for this version of a workflow, preferably one that has room.
    pub(super) fn find(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Worker>> {
        let state = self.read();
        let registrations = state.by_workflow.get(workflow)?;
        let matching = || {
            let all = registrations.iter();
            all.filter(|registration| registration.versions.contains(&version))
        };
        let found = matching().find(|registration| !registration.worker.is_full());
        let found = found.or_else(|| matching().next())?;
        Some(found.worker.clone())
    }

    pub(super) fn newest(&self, workflow: &Name) -> Option<u32> {
        let state = self.read();
        let registrations = state.by_workflow.get(workflow)?.iter();
        registrations
            .map(|registration| *registration.versions.end())
            .max()
    }

    /// Returns the names of the offered workflows, sorted.
    pub(super) fn workflows(&self) -> Vec<Name> {
        let mut workflows: Vec<Name> = self.read().by_workflow.keys().cloned().collect();
        workflows.sort();
        workflows
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registration of a worker. Dropping it removes the worker: it gets no more runs, and keeps
/// the runs that it has.
pub struct Offered {
    registry: Weak<Registry>,
    id: u64,
}

impl Offered {
    /// Keeps the worker for the lifetime of the engine.
    pub(super) fn keep(mut self) {
        self.registry = Weak::new();
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        if let Some(registry) = self.registry.upgrade() {
            registry.remove(self.id);
        }
    }
}

impl std::fmt::Debug for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Offered({})", self.id)
    }
}
