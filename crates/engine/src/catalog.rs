//! The workflows that workers elsewhere have told of: kept in a document, so that their runs can be started, and what is
//! sent to them checked, while no such worker is there.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use everstep_model::{Description, Name, Payload};
use everstep_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::activation::{Offer, Worker};
use crate::core::Core;
use crate::declares::Declares;
use crate::error::{StartError, Unavailable, UnknownWorkflow};
use crate::roles::Role;
use crate::schema;
use crate::streams::{Document, StreamError, StreamPath, Streams};

/// Where the document is.
const PATH: &str = "__ds/workflows";
/// How often a change is tried again that another node was faster with.
const TRIES_MAX: u32 = 100;

/// What the document says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Listing {
    workflows: BTreeMap<Name, Listed>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Listed {
    /// The newest version told of.
    newest: u32,
    description: Arc<Description>,
}

/// The document as it was last read.
#[derive(Default)]
pub(crate) struct Catalog(RwLock<Arc<Listing>>);

impl Catalog {
    pub(crate) fn newest(&self, workflow: &Name) -> Option<u32> {
        let listing = self.listing();
        listing.workflows.get(workflow).map(|listed| listed.newest)
    }

    pub(crate) fn description(&self, workflow: &Name) -> Option<Arc<Description>> {
        let listing = self.listing();
        let listed = listing.workflows.get(workflow)?;
        Some(listed.description.clone())
    }

    /// The workflows told of, with their newest versions and what was said of them.
    pub(crate) fn all(&self) -> Vec<(Name, u32, Arc<Description>)> {
        let listing = self.listing();
        let listed = listing.workflows.iter();
        listed
            .map(|(name, listed)| (name.clone(), listed.newest, listed.description.clone()))
            .collect()
    }

    fn listing(&self) -> Arc<Listing> {
        let listing = self.0.read().unwrap_or_else(PoisonError::into_inner);
        listing.clone()
    }

    fn replace(&self, listing: Listing) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listing);
    }
}

impl Core {
    /// The version of a workflow that a new run of it gets. Another node may have heard of the workflow meanwhile.
    pub(crate) async fn version_to_start(
        self: &Arc<Self>,
        workflow: &Name,
    ) -> Result<u32, StartError> {
        if let Some(version) = self.newest_version(workflow) {
            return Ok(version);
        }
        self.read_catalog().await?;
        let version = self.newest_version(workflow);
        version.ok_or_else(|| UnknownWorkflow(workflow.to_string()).into())
    }

    /// Tells the other nodes what is executed here, so that those without the code can start it.
    pub(crate) async fn tell_of_workers(self: &Arc<Self>) -> Result<(), Unavailable> {
        if !self.is(Role::Worker) {
            return Ok(());
        }
        for worker in self.workers.all() {
            self.remember(&*worker).await?;
        }
        Ok(())
    }

    /// Reads the document again and again: workers of other nodes bring newer versions.
    pub(crate) async fn keep_catalog(self: Arc<Self>) {
        while !self.is_closing() {
            self.rest(self.settings.sweep_interval).await;
            if self.is_closing() {
                return;
            }
            if let Err(error) = self.read_catalog().await {
                tracing::warn!(%error, "the catalog of workflows could not be read");
            }
        }
    }

    /// Reads the document; another node may have written it.
    pub(crate) async fn read_catalog(self: &Arc<Self>) -> Result<(), Unavailable> {
        self.reread().await.map(drop)
    }

    async fn reread(self: &Arc<Self>) -> Result<(Option<Document>, Listing), Unavailable> {
        let streams = Streams { core: self.clone() };
        let document = streams.document(&path()?).await.map_err(store_error)?;
        let listing = match &document {
            Some(document) => serde_json::from_slice(&document.bytes).map_err(damaged)?,
            None => Listing::default(),
        };
        self.catalog.replace(listing.clone());
        Ok((document, listing))
    }

    /// Keeps what a worker describes. What is durable already is not written again.
    pub(crate) async fn remember(self: &Arc<Self>, worker: &dyn Worker) -> Result<(), Unavailable> {
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
        let streams = Streams { core: self.clone() };
        for _ in 0..TRIES_MAX {
            let (document, before) = self.reread().await?;
            let mut listing = before.clone();
            for (offer, description) in &described {
                listing.add(offer, description);
            }
            if listing == before {
                return Ok(());
            }
            let bytes = serde_json::to_vec(&listing).map_err(damaged)?;
            let path = path()?;
            let written = streams.put_document(&path, document.as_ref(), bytes.into());
            if written.await.map_err(store_error)? {
                self.catalog.replace(listing);
                return Ok(());
            }
        }
        let detail = "others change the catalog of workflows all the time".to_owned();
        Err(StoreError::Unavailable { detail }.into())
    }
}

impl Listing {
    /// The newest version speaks for its workflow.
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

fn path() -> Result<StreamPath, Unavailable> {
    StreamPath::internal(PATH).map_err(damaged)
}

fn damaged(error: impl ToString) -> Unavailable {
    let (place, detail) = ("the catalog of workflows".to_owned(), error.to_string());
    StoreError::Corrupt { place, detail }.into()
}

fn store_error(error: StreamError) -> Unavailable {
    match error {
        StreamError::Unavailable(error) => error,
        error => damaged(error),
    }
}

impl Declares for Description {
    fn accepts(&self) -> Option<Vec<String>> {
        let events = self.events.as_ref()?;
        Some(events.keys().cloned().collect())
    }

    fn is_accepted(&self, event: &str) -> bool {
        let mut events = self.events.iter();
        events.all(|events| events.contains_key(event))
    }

    fn check_input(&self, input: &Payload) -> Result<(), String> {
        schema::check(self.input.as_ref(), input)
    }

    fn check_event(&self, name: &str, payload: &Payload) -> Result<(), String> {
        let described = self.events.as_ref().and_then(|events| events.get(name));
        schema::check(described.and_then(|event| event.schema.as_ref()), payload)
    }

    fn check_answer(&self, method: &str, answer: &Payload) -> Result<(), String> {
        let described = self.rpcs.get(method);
        schema::check(described.and_then(|rpc| rpc.schema.as_ref()), answer)
    }

    fn deadline(&self) -> Option<Duration> {
        self.deadline.map(Duration::from_millis)
    }

    fn description(&self) -> Option<Description> {
        Some(self.clone())
    }
}
