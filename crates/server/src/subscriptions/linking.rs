//! The streams of a subscription: which are linked, which have grown, and which were deleted.

use everstep_engine::streams::{Document, StreamError};
use everstep_model::Offset;

use super::error::SubscriptionError;
use super::register::Subscriptions;
use super::state::{Link, LinkType, START, Subscription};

/// The number of links that a request handles, besides those that the subscription names.
pub(super) const LINKS_MAX: usize = 1_000;

impl Subscriptions {
    /// Links a stream that the pattern matches.
    pub(super) async fn link_glob(
        &self,
        id: &str,
        path: &str,
        acked: Offset,
    ) -> Result<(), StreamError> {
        let Some((document, _)) = self.documents.load(id).await? else {
            return Ok(());
        };
        let link_type = LinkType::Glob;
        let link = Link { link_type, acked };
        self.links.add(&document, path, &link).await?;
        self.index.link(id, path);
        Ok(())
    }

    /// Removes the link of a pattern to a stream that was deleted. A stream that was created at its
    /// path meanwhile is linked from its start.
    async fn unlink_glob(&self, id: &str, path: &str) -> Result<(), StreamError> {
        if self.index.is_growing(path) {
            return Ok(());
        }
        if let Some((document, _)) = self.documents.load(id).await? {
            self.links.remove(&document, path).await?;
        }
        self.index.unlink(id, path);
        if self.index.is_growing(path) || self.tail(path).await?.is_some() {
            self.link_glob(id, path, START).await?;
            self.index.grew(id, path);
        }
        Ok(())
    }

    /// Returns the links of the pattern that have grown, and those of these paths.
    pub(super) async fn links_of(
        &self,
        document: &Document,
        id: &str,
        paths: &[String],
    ) -> Result<Vec<(String, Link)>, StreamError> {
        let grown = self.index.grown(id, LINKS_MAX).into_iter();
        let paths = grown.map(|(path, _)| path).chain(paths.iter().cloned());
        let mut links = Vec::new();
        for path in paths {
            if let Some(link) = self.links.get(document, &path).await? {
                links.push((path, link));
            }
        }
        Ok(links)
    }

    /// Adds further links of the pattern, to show them: at most [`LINKS_MAX`].
    pub(super) async fn with_more_links(
        &self,
        mut subscription: Subscription,
    ) -> Result<Subscription, SubscriptionError> {
        let loaded = self.documents.load(&subscription.id).await?;
        let (document, _) = loaded.ok_or(SubscriptionError::NotFound)?;
        let more = LINKS_MAX.saturating_sub(subscription.links.len());
        for (path, link) in self.links.page(&document, None, more).await? {
            subscription.links.entry(path).or_insert(link);
        }
        Ok(subscription)
    }

    /// Returns a subscription with the links that have grown, and further ones to show.
    pub(super) async fn shown(&self, id: &str) -> Result<Subscription, SubscriptionError> {
        let (subscription, ()) = self.change(id, |_| Ok(())).await?;
        self.with_more_links(subscription).await
    }

    /// Notes that a stream has grown or was deleted.
    pub(super) async fn note_growth(&self, id: &str, path: &str) -> Result<(), StreamError> {
        self.index.grew(id, path);
        match self.tail(path).await? {
            Some(_) => Ok(()),
            None => self.unlink_glob(id, path).await,
        }
    }

    /// Finds the streams that have grown or were deleted without a notice on this node: before it
    /// started, or on another node.
    pub(super) async fn check_links(&self, id: &str) -> Result<(), StreamError> {
        let Some((document, _)) = self.documents.load(id).await? else {
            return Ok(());
        };
        let mut after: Option<String> = None;
        loop {
            let page = self
                .links
                .page(&document, after.as_deref(), LINKS_MAX)
                .await?;
            for (path, link) in &page {
                self.index.link(id, path);
                let tail = self.tail(path).await?;
                // Another node may be about to create the stream.
                let was_missing = self.index.note_missing(id, path, tail.is_none());
                match tail {
                    None if was_missing || !self.streams.is_shared() => {
                        self.unlink_glob(id, path).await?;
                    }
                    None => {}
                    Some(tail) if link.is_pending(Some(&tail)) => self.index.grew(id, path),
                    Some(_) => {}
                }
            }
            match page.last() {
                Some((path, _)) => after = Some(path.clone()),
                None => return Ok(()),
            }
        }
    }
}
