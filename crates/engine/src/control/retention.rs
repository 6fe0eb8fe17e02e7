//! Retention: finished runs are deleted when they have been over for long enough, by how they ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{RunId, RunStatus, limits};
use everstep_store::{ListQuery, RunRow, StoreError};

use crate::core::Core;
use crate::error::{ControlError, ReadError};

/// How long finished runs are kept, by how they ended. What is not named is kept for ever.
///
/// ```
/// use std::time::Duration;
/// use everstep_engine::Retention;
/// use everstep_model::RunStatus;
///
/// let day = Duration::from_secs(24 * 3_600);
/// let retention = Retention::forever()
///     .keep(RunStatus::Completed, 30 * day)
///     .keep(RunStatus::Failed, 90 * day);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention(BTreeMap<RunStatus, Duration>);

impl Retention {
    /// Everything is kept.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// Runs that ended so are deleted when they have been over for this long. Runs that are not over are never deleted.
    #[must_use]
    pub fn keep(mut self, status: RunStatus, age: Duration) -> Self {
        if status.is_terminal() {
            self.0.insert(status, age);
        }
        self
    }

    /// Whether everything is kept.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        self.0.is_empty()
    }
}

impl Core {
    /// Deletes what the settings do not keep any longer; gives the runs that were deleted.
    pub(crate) async fn apply_retention(self: &Arc<Self>) -> Result<Vec<RunId>, StoreError> {
        let mut deleted = Vec::new();
        for (status, age) in &self.settings.retention.0 {
            let mut query = ListQuery {
                statuses: vec![*status],
                limit: limits::LIST_PAGE_MAX,
                ..ListQuery::default()
            };
            loop {
                let page = self.store.list(query.clone()).await?;
                for row in page.rows {
                    if row.updated_at.after(*age) <= self.runtime.now() {
                        // One that cannot be deleted keeps no other.
                        match self.delete_expired(&row).await {
                            Ok(gone) => deleted.extend(gone),
                            Err(error) => {
                                tracing::warn!(run = %row.id, %error, "an old run could not be deleted");
                            }
                        }
                    }
                }
                match page.next {
                    Some(next) if !self.is_closing() => query.cursor = Some(next),
                    _ => break,
                }
            }
        }
        Ok(deleted)
    }

    /// Deletes a run as it was listed. One that was revived since then has another life to live, which is neither ended nor
    /// deleted, however short it may be.
    async fn delete_expired(
        self: &Arc<Self>,
        listed: &RunRow,
    ) -> Result<Option<RunId>, ControlError> {
        let run = &listed.id;
        let (head, row) = match self.find(run).await {
            Ok(found) => found,
            Err(ReadError::UnknownRun(_)) => return Ok(None),
            Err(ReadError::Unavailable(error)) => return Err(error.into()),
        };
        let is_same = row.generation == listed.generation && row.updated_at == listed.updated_at;
        if !head.closed || !is_same {
            return Ok(None);
        }
        let is_gone = self.delete_until(run, row.generation, head.number).await?;
        Ok(is_gone.then(|| run.clone()))
    }

    /// The slow task that applies the settings from time to time.
    pub(crate) async fn keep_retention(self: Arc<Self>) {
        if self.settings.retention.keeps_everything() {
            return;
        }
        while !self.is_closing() {
            self.rest(self.settings.retention_interval).await;
            if self.is_closing() {
                return;
            }
            match self.apply_retention().await {
                Ok(deleted) if deleted.is_empty() => {}
                Ok(deleted) => tracing::info!(runs = deleted.len(), "old runs were deleted"),
                Err(error) => tracing::warn!(%error, "old runs could not be deleted"),
            }
        }
    }
}
