//! The documents of subscriptions in the store: one per subscription, and an index of their ids.

use std::collections::BTreeSet;

use everstep_engine::streams::{Document, StreamError, StreamPath, Streams};
use everstep_store::StoreError;

use super::links::Rows;
use super::state::{LinkType, Subscription};

const INDEX: &str = "__ds/subscriptions";

pub(super) struct Documents {
    pub(super) streams: Streams,
}

impl Documents {
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

    /// Creates the document, or replaces the one that was read. Returns false if another node
    /// changed it concurrently.
    pub(super) async fn write(
        &self,
        read: Option<&Document>,
        subscription: &Subscription,
        rows: Rows,
    ) -> Result<bool, StreamError> {
        let mut stored = subscription.clone();
        stored
            .links
            .retain(|_, link| link.link_type == LinkType::Explicit);
        let bytes = serde_json::to_vec(&stored);
        let bytes = bytes.map_err(|error| unreadable(&subscription.id, &error))?;
        let path = document_path(&subscription.id)?;
        let (streams, bytes) = (&self.streams, bytes.into());
        streams.put_document_with(&path, read, bytes, rows).await
    }

    pub(super) async fn remove(&self, id: &str) -> Result<bool, StreamError> {
        let removed = self.streams.remove_document(&document_path(id)?).await?;
        self.change_index(|ids| ids.remove(id)).await?;
        Ok(removed)
    }

    /// Returns the ids of all subscriptions. Some of them may no longer exist.
    pub(super) async fn ids(&self) -> Result<BTreeSet<String>, StreamError> {
        let document = self.streams.document(&StreamPath::internal(INDEX)?).await?;
        parse_index(document.as_ref())
    }

    /// Adds an id to the index. Called before the subscription is created.
    pub(super) async fn add_id(&self, id: &str) -> Result<(), StreamError> {
        self.change_index(|ids| ids.insert(id.to_owned())).await
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
            let (read, streams) = (document.as_ref(), &self.streams);
            if streams.put_document(&path, read, bytes.into()).await? {
                return Ok(());
            }
        }
    }
}

fn parse_index(document: Option<&Document>) -> Result<BTreeSet<String>, StreamError> {
    let ids = document.map(|document| serde_json::from_slice(&document.bytes));
    let ids = ids.transpose().map_err(|error| unreadable(INDEX, &error));
    Ok(ids?.unwrap_or_default())
}

fn document_path(id: &str) -> Result<StreamPath, StreamError> {
    Ok(StreamPath::internal(&format!("{INDEX}/{id}"))?)
}

fn unreadable(what: &str, error: &serde_json::Error) -> StreamError {
    StoreError::corrupt(what, error.to_string()).into()
}
