//! The subscriptions of a server: their documents in the store, and an index in memory that finds the
//! subscriptions of a stream at each append.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use everstep_engine::streams::{Document, StreamError, StreamPath, Streams};
use everstep_model::Offset;
use everstep_store::StoreError;
use tokio::sync::OnceCell;

use super::error::SubscriptionError;
use super::keys::Keys;
use super::schedule::Schedule;
use super::state::{Config, Link, LinkType, START, Subscription, Tails};
use super::webhook_url::WebhookTargets;

const INDEX: &str = "__ds/subscriptions";

pub(crate) struct Subscriptions {
    pub(super) streams: Streams,
    pub(super) targets: WebhookTargets,
    keys: OnceCell<Keys>,
    known: RwLock<BTreeMap<String, Known>>,
    /// The number of subscriptions, so that appends take no lock while there are none.
    count: AtomicUsize,
    pub(super) schedule: Arc<Schedule>,
}

/// The part of a subscription that decides whether an append concerns it.
struct Known {
    config: Arc<Config>,
    linked: BTreeSet<String>,
}

impl Subscriptions {
    pub(crate) fn new(streams: Streams, targets: WebhookTargets) -> Self {
        Self {
            streams,
            targets,
            keys: OnceCell::new(),
            known: RwLock::default(),
            count: AtomicUsize::new(0),
            schedule: Arc::default(),
        }
    }

    pub(super) async fn keys(&self) -> Result<&Keys, StreamError> {
        let made = self.keys.get_or_try_init(|| Keys::of_store(&self.streams));
        made.await
    }

    pub(super) fn remember(&self, subscription: &Subscription) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let entry = Known {
            config: Arc::new(subscription.config.clone()),
            linked: subscription.links.keys().cloned().collect(),
        };
        known.insert(subscription.id.clone(), entry);
        self.count.store(known.len(), Ordering::Release);
        drop(known);
        self.schedule.set(&subscription.id, subscription.due());
    }

    pub(super) fn forget(&self, id: &str) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.remove(id);
        self.count.store(known.len(), Ordering::Release);
        drop(known);
        self.schedule.set(id, None);
    }

    pub(super) fn has_any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    pub(super) fn all(&self) -> Vec<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().cloned().collect()
    }

    /// The ids of the subscriptions that are linked to a stream.
    pub(super) fn linked_to(&self, path: &str) -> Vec<String> {
        self.filtered(|known| known.linked.contains(path))
    }

    fn filtered(&self, wanted: impl Fn(&Known) -> bool) -> Vec<String> {
        if !self.has_any() {
            return Vec::new();
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = known.iter().filter(|(_, known)| wanted(known));
        wanted.map(|(id, _)| id.clone()).collect()
    }

    /// Links a stream that is about to grow to the subscriptions whose pattern it matches. The link
    /// is durable before the append, so that a crash in between does not lose the wake.
    pub(crate) async fn before_growth(
        &self,
        path: &StreamPath,
        is_creation: bool,
    ) -> Result<(), StreamError> {
        let path = path.as_str();
        let missing =
            self.filtered(|known| !known.linked.contains(path) && known.config.matches(path));
        for id in missing {
            let acked = match self.tail(path).await? {
                Some(tail) => tail,
                None if is_creation => START,
                None => return Ok(()),
            };
            let linked = self.change(&id, |subscription| {
                let link = Link {
                    link_type: LinkType::Glob,
                    acked,
                };
                subscription.links.entry(path.to_owned()).or_insert(link);
                Ok(())
            });
            match linked.await {
                Ok(_) | Err(SubscriptionError::NotFound) => {}
                Err(SubscriptionError::Failed(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the end of a stream. `None` if it does not exist.
    pub(super) async fn tail(&self, path: &str) -> Result<Option<Offset>, StreamError> {
        match self.streams.info(&StreamPath::new(path)?).await {
            Ok(info) => Ok(Some(info.next)),
            Err(StreamError::Missing | StreamError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn tails(&self, subscription: &Subscription) -> Result<Tails, StreamError> {
        let mut tails = Tails::new();
        for path in subscription.links.keys() {
            if let Some(tail) = self.tail(path).await? {
                tails.insert(path.clone(), tail);
            }
        }
        Ok(tails)
    }

    pub(super) async fn load(
        &self,
        id: &str,
    ) -> Result<Option<(Document, Subscription)>, StreamError> {
        let Some(document) = self.streams.document(&document_path(id)?).await? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&document.bytes);
        let subscription = parsed.map_err(|error| unreadable(id, &error))?;
        Ok(Some((document, subscription)))
    }

    pub(super) async fn find(&self, id: &str) -> Result<Subscription, SubscriptionError> {
        let found = self.load(id).await?;
        found
            .map(|(_, found)| found)
            .ok_or(SubscriptionError::NotFound)
    }

    /// Changes a subscription. Retries until no other node has changed it concurrently.
    pub(super) async fn change<T>(
        &self,
        id: &str,
        mut change: impl FnMut(&mut Subscription) -> Result<T, SubscriptionError>,
    ) -> Result<(Subscription, T), SubscriptionError> {
        loop {
            let (document, mut subscription) =
                self.load(id).await?.ok_or(SubscriptionError::NotFound)?;
            let before = subscription.clone();
            let changed = change(&mut subscription)?;
            let is_written =
                before == subscription || self.write(Some(&document), &subscription).await?;
            if is_written {
                self.remember(&subscription);
                return Ok((subscription, changed));
            }
        }
    }

    pub(super) async fn write(
        &self,
        read: Option<&Document>,
        subscription: &Subscription,
    ) -> Result<bool, StreamError> {
        let bytes = serde_json::to_vec(subscription);
        let bytes = bytes.map_err(|error| unreadable(&subscription.id, &error))?;
        let path = document_path(&subscription.id)?;
        self.streams.put_document(&path, read, bytes.into()).await
    }

    pub(super) async fn remove(&self, id: &str) -> Result<bool, StreamError> {
        self.forget(id);
        let removed = self.streams.remove_document(&document_path(id)?).await?;
        self.change_index(|ids| ids.remove(id)).await?;
        Ok(removed)
    }

    /// Adds an id to the index. Called before the subscription is created.
    pub(super) async fn add_to_index(&self, id: &str) -> Result<(), StreamError> {
        self.change_index(|ids| ids.insert(id.to_owned())).await
    }

    /// The ids of all subscriptions. Some of them may no longer exist.
    pub(super) async fn index(&self) -> Result<BTreeSet<String>, StreamError> {
        let document = self.streams.document(&StreamPath::internal(INDEX)?).await?;
        parse_index(document.as_ref())
    }

    async fn change_index(
        &self,
        change: impl Fn(&mut BTreeSet<String>) -> bool,
    ) -> Result<(), StreamError> {
        let path = StreamPath::internal(INDEX)?;
        loop {
            let document = self.streams.document(&path).await?;
            let mut ids = parse_index(document.as_ref())?;
            if !change(&mut ids) {
                return Ok(());
            }
            let bytes = serde_json::to_vec(&ids).map_err(|error| unreadable(INDEX, &error))?;
            let put = self
                .streams
                .put_document(&path, document.as_ref(), bytes.into());
            if put.await? {
                return Ok(());
            }
        }
    }
}

fn parse_index(document: Option<&Document>) -> Result<BTreeSet<String>, StreamError> {
    match document {
        Some(document) => {
            let parsed = serde_json::from_slice(&document.bytes);
            parsed.map_err(|error| unreadable(INDEX, &error))
        }
        None => Ok(BTreeSet::new()),
    }
}

fn document_path(id: &str) -> Result<StreamPath, StreamError> {
    Ok(StreamPath::internal(&format!("{INDEX}/{id}"))?)
}

fn unreadable(what: &str, error: &serde_json::Error) -> StreamError {
    StoreError::Corrupt {
        place: what.to_owned(),
        detail: error.to_string(),
    }
    .into()
}
