//! The catalog of workflows that any node has offered, kept in a document. Runs of these workflows
//! can be started, and payloads checked, while no worker is connected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use everstep_model::{Description, Name, StreamName};
use everstep_store::StoreError;
use serde::{Deserialize, Serialize};

use super::activation::{Offer, Worker};
use crate::commit::{Committer, Document};
use crate::error::Unavailable;
use crate::lock::lock;

/// The path of the document.
const PATH: &str = "__ds/workflows";
/// How often a change is retried if other nodes change the document concurrently.
const ATTEMPTS_MAX: u32 = 100;

/// The content of the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Listing {
    pub(super) workflows: BTreeMap<Name, Listed>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) newest: u32,
    pub(super) description: Arc<Description>,
}

pub(super) struct Catalog {
    pub(super) committer: Arc<Committer>,
    /// The document as it was last read.
    listing: Mutex<Arc<Listing>>,
}

impl Catalog {
    pub(super) fn new(committer: Arc<Committer>) -> Self {
        Self {
            committer,
            listing: Mutex::default(),
        }
    }

    pub(super) fn get(&self, workflow: &Name) -> Option<Listed> {
        self.listing().workflows.get(workflow).cloned()
    }

    pub(super) fn listing(&self) -> Arc<Listing> {
        lock(&self.listing).clone()
    }

    /// Reads the document, which other nodes change.
    pub(super) async fn refresh(&self) -> Result<(), Unavailable> {
        self.read().await.map(drop)
    }

    async fn read(&self) -> Result<(Option<Document>, Listing), Unavailable> {
        let name = StreamName::of_user(PATH);
        let document = self.committer.read_document(name).await?;
        let listing = match &document {
            Some(document) => serde_json::from_slice(&document.bytes).map_err(damaged)?,
            None => Listing::default(),
        };
        *lock(&self.listing) = Arc::new(listing.clone());
        Ok((document, listing))
    }

    /// Adds the workflows that a worker describes. Does not write if they are in the document.
    pub(super) async fn add(&self, worker: &dyn Worker) -> Result<(), Unavailable> {
        let offers = worker.offers();
        let described: Vec<(Offer, Description)> = offers
            .into_iter()
            .filter_map(|offer| {
                let declared = worker.declares(&offer.workflow)?;
                Some((offer, declared.description()?))
            })
            .collect();
        if described.is_empty() {
            return Ok(());
        }
        for _ in 0..ATTEMPTS_MAX {
            let (document, before) = self.read().await?;
            let mut listing = before.clone();
            for (offer, description) in &described {
                listing.add(offer, description);
            }
            if listing == before {
                return Ok(());
            }
            let bytes = serde_json::to_vec(&listing).map_err(damaged)?;
            let (name, committer) = (StreamName::of_user(PATH), &self.committer);
            let written =
                committer.write_document(name, document.as_ref(), bytes.into(), Default::default());
            if written.await? {
                *lock(&self.listing) = Arc::new(listing);
                return Ok(());
            }
        }
        let detail = "other nodes keep changing the catalog of workflows".to_owned();
        Err(StoreError::Unavailable { detail }.into())
    }
}

impl Listing {
    /// Adds a workflow, unless a newer version is listed.
    fn add(&mut self, offer: &Offer, description: &Description) {
        let newest = *offer.versions.end();
        let known = self.workflows.get(&offer.workflow);
        if known.is_none_or(|known| known.newest <= newest) {
            let listed = Listed {
                newest,
                description: Arc::new(description.clone()),
            };
            self.workflows.insert(offer.workflow.clone(), listed);
        }
    }
}

fn damaged(error: serde_json::Error) -> Unavailable {
    let (place, detail) = ("the catalog of workflows".to_owned(), error.to_string());
    StoreError::Corrupt { place, detail }.into()
}
