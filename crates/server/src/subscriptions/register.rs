//! The subscriptions of a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everstep_engine::streams::{FEEDS, Render, StreamError, StreamPath, Streams};
use everstep_model::{Offset, RecordFeed};
use tokio::sync::{OnceCell, broadcast};

use super::documents::Documents;
use super::error::SubscriptionError;
use super::keys::Keys;
use super::link_index::{Growing, LinkIndex};
use super::links::{self, Links};
use super::schedule::Schedule;
use super::state::{Link, LinkType, START, Subscription, Tails};
use super::webhook_url::WebhookTargets;

// Large type: one method for each request and each step of a wake, in a file for each topic.
pub(crate) struct Subscriptions {
    pub(super) streams: Streams,
    pub(super) targets: WebhookTargets,
    /// Renders the records of feeds.
    pub(super) render_feed: Render,
    keys: OnceCell<Keys>,
    pub(super) documents: Documents,
    pub(super) index: LinkIndex,
    pub(super) links: Links,
    pub(super) schedule: Arc<Schedule>,
    /// The changes of streams since the first subscription was registered, until the background
    /// task receives them.
    changes: Mutex<Option<broadcast::Receiver<StreamPath>>>,
}

impl Subscriptions {
    pub(crate) fn new(streams: Streams, targets: WebhookTargets, render_feed: Render) -> Self {
        Self {
            documents: Documents {
                streams: streams.clone(),
            },
            links: Links {
                streams: streams.clone(),
            },
            streams,
            targets,
            render_feed,
            keys: OnceCell::new(),
            index: LinkIndex::default(),
            schedule: Arc::default(),
            changes: Mutex::default(),
        }
    }

    pub(super) async fn keys(&self) -> Result<&Keys, StreamError> {
        let keys = || Keys::of_store(&self.streams);
        self.keys.get_or_try_init(keys).await
    }

    /// Updates the state in memory after a subscription was read or written.
    pub(super) fn remember(&self, subscription: &Subscription) {
        if self.index.is_empty() {
            *self.new_changes() = Some(self.streams.changes());
        }
        self.index.insert(subscription);
        self.schedule.set(&subscription.id, subscription.due());
    }

    /// The receiver that the background task has not taken yet.
    pub(super) fn new_changes(&self) -> MutexGuard<'_, Option<broadcast::Receiver<StreamPath>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn remove(&self, id: &str) -> Result<bool, StreamError> {
        self.index.remove(id);
        self.schedule.set(id, None);
        if let Some((document, _)) = self.documents.load(id).await? {
            self.links.remove_all(&document).await?;
        }
        self.documents.remove(id).await
    }

    /// Links a stream that is about to grow to the subscriptions whose pattern it matches. The link
    /// is durable before the append, so that a crash in between does not lose the wake. The caller
    /// keeps the result until the stream has grown.
    pub(crate) async fn before_growth(
        &self,
        path: &StreamPath,
        is_creation: bool,
    ) -> Result<Option<Growing<'_>>, StreamError> {
        let path = path.as_str();
        let growing = self.index.begin_growth(path);
        for id in self.index.to_be_linked_to(path) {
            let acked = match self.tail(path).await? {
                Some(tail) => tail,
                None if is_creation => START,
                None => return Ok(growing),
            };
            self.link_glob(&id, path, acked).await?;
        }
        Ok(growing)
    }

    /// Returns the end of a stream. `None` if it does not exist.
    pub(super) async fn tail(&self, path: &str) -> Result<Option<Offset>, StreamError> {
        let info = match feed_of(path) {
            Some(feed) => self.streams.feed_info(feed).await,
            None => self.streams.info(&StreamPath::new(path)?).await,
        };
        match info {
            Ok(info) => Ok(Some(info.next)),
            Err(StreamError::Missing | StreamError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn tails(&self, subscription: &Subscription) -> Result<Tails, StreamError> {
        self.tails_of(subscription.links.keys()).await
    }

    pub(super) async fn tails_of(
        &self,
        paths: impl IntoIterator<Item = &String>,
    ) -> Result<Tails, StreamError> {
        let mut tails = Tails::new();
        for path in paths {
            if let Some(tail) = self.tail(path).await? {
                tails.insert(path.clone(), tail);
            }
        }
        Ok(tails)
    }

    /// Returns a subscription with the links of its document.
    pub(super) async fn find(&self, id: &str) -> Result<Subscription, SubscriptionError> {
        let found = self.documents.load(id).await?;
        let found = found.map(|(_, subscription)| subscription);
        found.ok_or(SubscriptionError::NotFound)
    }

    /// Changes a subscription. Retries until no other node has changed it concurrently.
    pub(super) async fn change<T>(
        &self,
        id: &str,
        change: impl FnMut(&mut Subscription) -> Result<T, SubscriptionError>,
    ) -> Result<(Subscription, T), SubscriptionError> {
        self.change_with(id, &[], change).await
    }

    /// Changes a subscription with the links that have grown and those of these paths.
    pub(super) async fn change_with<T>(
        &self,
        id: &str,
        paths: &[String],
        mut change: impl FnMut(&mut Subscription) -> Result<T, SubscriptionError>,
    ) -> Result<(Subscription, T), SubscriptionError> {
        loop {
            let loaded = self.documents.load(id).await?;
            let (document, mut subscription) = loaded.ok_or(SubscriptionError::NotFound)?;
            let mut before = subscription.clone();
            // Documents of earlier releases contain all links. They become rows.
            let is_explicit = |link: &Link| link.link_type == LinkType::Explicit;
            before.links.retain(|_, link| is_explicit(link));
            for (path, link) in self.links_of(&document, id, paths).await? {
                before.links.entry(path.clone()).or_insert(link.clone());
                subscription.links.entry(path).or_insert(link);
            }
            let loaded = subscription.clone();
            let changed = change(&mut subscription)?;
            let is_written = loaded == subscription || {
                let rows = links::changes(&document, &before, &subscription)?;
                self.documents
                    .write(Some(&document), &subscription, rows)
                    .await?
            };
            if is_written {
                self.remember(&subscription);
                return Ok((subscription, changed));
            }
        }
    }
}

/// Returns the feed at a path.
pub(super) fn feed_of(path: &str) -> Option<RecordFeed> {
    RecordFeed::parse(path.strip_prefix(FEEDS)?)
}
