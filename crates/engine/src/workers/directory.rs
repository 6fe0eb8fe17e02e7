//! The directory of workers and workflows: which worker executes a run, which version a new run
//! gets.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use everstep_model::{Description, Name};

use super::activation::Worker;
use super::catalog::Catalog;
use super::registry::{Offered, Registry};
use crate::commit::Committer;
use crate::error::{OfferError, StartError, Unavailable, UnknownWorkflow};
use crate::node::Node;
use crate::roles::{Role, Roles};

pub(crate) struct Workers {
    node: Arc<Node>,
    pub(super) registry: Arc<Registry>,
    pub(super) catalog: Catalog,
}

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct KnownWorkflow {
    pub workflow: Name,
    /// The version that new runs get.
    pub newest: u32,
    /// The versions that workers of this node offer. `None` if none does.
    pub offered: Option<RangeInclusive<u32>>,
    /// The description of the newest version. `None` if its worker has none.
    pub description: Option<Arc<Description>>,
}

impl Workers {
    pub(crate) fn new(
        node: Arc<Node>,
        committer: Arc<Committer>,
        workers: Vec<Arc<dyn Worker>>,
    ) -> Self {
        let registry = Arc::<Registry>::default();
        for worker in &workers {
            registry.add(worker).keep();
        }
        Self {
            node,
            catalog: Catalog::new(committer),
            registry,
        }
    }

    /// Adds a worker, and its workflows to the catalog.
    pub(crate) async fn offer(&self, worker: &Arc<dyn Worker>) -> Result<Offered, OfferError> {
        self.catalog.committer.check_open()?;
        if !self.node.has(Role::Worker) {
            return Err(OfferError::NoWorkerRole);
        }
        self.catalog.add(&**worker).await?;
        Ok(self.registry.add(worker))
    }

    /// Returns the worker that executes this version of a workflow. `None` if no worker offers it,
    /// or the node executes no runs.
    pub(crate) fn executor(&self, workflow: &Name, version: u32) -> Option<Arc<dyn Worker>> {
        let registry = self.node.has(Role::Worker).then_some(&self.registry)?;
        registry.find(workflow, version)
    }

    /// Returns whether a worker of this node executes this version and has room for another run.
    pub(crate) fn has_room(&self, workflow: &Name, version: u32) -> bool {
        let worker = self.executor(workflow, version);
        worker.is_some_and(|worker| !worker.is_full())
    }

    /// Returns the names of the workflows that this node offers, sorted.
    pub(crate) fn offered(&self) -> Vec<Name> {
        self.registry.workflows()
    }

    /// Returns the newest version of a workflow offered by this node, or else in the catalog.
    pub(crate) fn newest_version(&self, workflow: &Name) -> Option<u32> {
        let offered = self.registry.newest(workflow);
        offered.or_else(|| Some(self.catalog.get(workflow)?.newest))
    }

    /// Returns the version of a workflow that a new run gets. Another node may have added the
    /// workflow.
    pub(crate) async fn version_to_start(&self, workflow: &Name) -> Result<u32, StartError> {
        if let Some(version) = self.newest_version(workflow) {
            return Ok(version);
        }
        self.catalog.refresh().await?;
        let version = self.newest_version(workflow);
        version.ok_or_else(|| UnknownWorkflow(workflow.to_string()).into())
    }

    /// Reads the catalog and adds the workflows of this node, so that other nodes can start them.
    /// Not needed if this node does everything and no other process shares the store.
    pub(crate) async fn publish(self: &Arc<Self>) -> Result<(), Unavailable> {
        self.catalog.refresh().await?;
        let does_everything = self.node.settings.roles == Roles::ALL;
        if does_everything && !self.node.store.describe().spans_processes {
            return Ok(());
        }
        if self.node.has(Role::Worker) {
            for worker in self.registry.all() {
                self.catalog.add(&*worker).await?;
            }
        }
        self.node.spawn(self.clone().keep_catalog_current());
        Ok(())
    }

    async fn keep_catalog_current(self: Arc<Self>) {
        while self.node.rest(self.node.settings.sweep_interval).await {
            if let Err(error) = self.catalog.refresh().await {
                tracing::warn!(%error, "cannot read the catalog of workflows");
            }
        }
    }

    /// Returns every workflow that can be started, by name.
    pub(crate) async fn known(&self) -> Result<Vec<KnownWorkflow>, Unavailable> {
        self.catalog.refresh().await?;
        let mut known = BTreeMap::new();
        for (workflow, listed) in &self.catalog.listing().workflows {
            let found = KnownWorkflow {
                workflow: workflow.clone(),
                newest: listed.newest,
                offered: None,
                description: Some(listed.description.clone()),
            };
            known.insert(workflow.clone(), found);
        }
        for offer in self.registry.offers() {
            let (oldest, newest) = (*offer.versions.start(), *offer.versions.end());
            let entry = known.entry(offer.workflow.clone());
            let found = entry.or_insert_with(|| KnownWorkflow {
                workflow: offer.workflow,
                newest,
                offered: None,
                description: None,
            });
            found.offered = Some(match &found.offered {
                Some(before) => oldest.min(*before.start())..=newest.max(*before.end()),
                None => oldest..=newest,
            });
        }
        let mut known: Vec<_> = known.into_values().collect();
        for found in &mut known {
            let newest = self.newest_version(&found.workflow);
            found.newest = newest.unwrap_or(found.newest);
            // The catalog lacks the workflows of this process if no other process shares the store.
            let declared = self.declares(&found.workflow, found.newest);
            let description = declared.and_then(|declared| declared.description());
            found.description = description.map(Arc::new).or(found.description.take());
        }
        Ok(known)
    }
}
