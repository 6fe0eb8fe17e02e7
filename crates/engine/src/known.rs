//! Which workflows an engine knows: those that somebody offers now, and those that workers elsewhere have told of.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use everstep_model::{Description, Name};

use crate::engine::Engine;
use crate::error::Unavailable;

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownWorkflow {
    /// Its name.
    pub workflow: Name,
    /// The version that new runs get.
    pub newest: u32,
    /// The versions that somebody here offers to execute; none if nobody does.
    pub offered: Option<RangeInclusive<u32>>,
    /// What was said of it, if a worker elsewhere did.
    pub description: Option<Arc<Description>>,
}

impl Engine {
    /// Every workflow that can be started, by name.
    pub async fn workflows(&self) -> Result<Vec<KnownWorkflow>, Unavailable> {
        self.core.read_catalog().await?;
        let mut known = BTreeMap::new();
        for (workflow, newest, description) in self.core.catalog.all() {
            let found = KnownWorkflow {
                workflow: workflow.clone(),
                newest,
                offered: None,
                description: Some(description),
            };
            known.insert(workflow, found);
        }
        for offer in self.core.workers.offers() {
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
        // As a start would choose: what is offered here goes first.
        for found in &mut known {
            found.newest = self
                .core
                .newest_version(&found.workflow)
                .unwrap_or(found.newest);
        }
        Ok(known)
    }
}
