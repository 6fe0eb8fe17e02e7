//! Deletes finished runs after a retention period, which depends on their final status.

use std::sync::Arc;

use everstep_model::{RunId, limits};
use everstep_store::{ListQuery, RunRow, StoreError};
use futures_util::stream::{self, StreamExt};

use super::bulk::AT_ONCE;
use super::controller::Controller;
use crate::error::ControlError;

impl Controller {
    /// Deletes runs whose retention has expired, and returns them.
    pub(crate) async fn apply_retention(&self) -> Result<Vec<RunId>, StoreError> {
        let mut deleted = Vec::new();
        for (status, age) in self.parts.node.settings.retention.periods() {
            let mut query = ListQuery {
                statuses: vec![status],
                limit: limits::LIST_PAGE_MAX,
                ..ListQuery::default()
            };
            loop {
                let page = self.parts.node.list(query.clone()).await?;
                let now = self.parts.node.now();
                let expired = page.rows.into_iter();
                let expired = expired.filter(|row| row.updated_at.after(age) <= now);
                let mut deletions = stream::iter(expired)
                    .map(|row| self.delete_or_warn(row))
                    .buffered(AT_ONCE);
                while let Some(gone) = deletions.next().await {
                    deleted.extend(gone);
                }
                match page.next {
                    Some(next) if !self.parts.node.is_closing() => query.cursor = Some(next),
                    _ => break,
                }
            }
        }
        Ok(deleted)
    }

    /// Deletes a run and returns it. One that cannot be deleted must not prevent the deletion of
    /// others.
    async fn delete_or_warn(&self, listed: RunRow) -> Option<RunId> {
        self.delete_expired(&listed).await.unwrap_or_else(|error| {
            tracing::warn!(run = %listed.id, %error, "cannot delete an expired run");
            None
        })
    }

    /// Deletes a run in the state in which it was listed. A run that was revived since then is not
    /// touched.
    async fn delete_expired(&self, listed: &RunRow) -> Result<Option<RunId>, ControlError> {
        let run = &listed.id;
        let Some((head, row)) = self.parts.node.latest(run).await? else {
            return Ok(None);
        };
        let is_same = row.generation == listed.generation && row.updated_at == listed.updated_at;
        if !head.closed || !is_same {
            return Ok(None);
        }
        let deleted = self.delete_until(run, row.generation, head.number);
        Ok(deleted.await?.then(|| run.clone()))
    }

    /// Applies the retention periodically.
    pub(crate) async fn keep_applying_retention(self: Arc<Self>) {
        let node = &self.parts.node;
        if node.settings.retention.keeps_everything() {
            return;
        }
        while node.rest(node.settings.retention_interval).await {
            match self.apply_retention().await {
                Ok(deleted) if deleted.is_empty() => {}
                Ok(deleted) => tracing::info!(runs = deleted.len(), "expired runs deleted"),
                Err(error) => tracing::warn!(%error, "retention failed"),
            }
        }
    }
}
