//! Deletes finished runs after a retention period, which depends on their final status.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use everstep_model::{RunId, RunStatus, limits};
use everstep_store::{ListQuery, RunRow, StoreError};

use crate::core::Core;
use crate::error::{ControlError, ReadError};

/// How long finished runs are kept, by final status. Runs with other statuses are kept forever.
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
    /// Keeps all runs.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// Deletes runs with this final status after this time. Runs in progress are never deleted.
    #[must_use]
    pub fn keep(mut self, status: RunStatus, age: Duration) -> Self {
        if status.is_terminal() {
            self.0.insert(status, age);
        }
        self
    }

    /// Returns whether all runs are kept.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        self.0.is_empty()
    }
}

impl Core {
    /// Deletes runs whose retention has expired, and returns them.
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
                        // A run that cannot be deleted must not prevent the deletion of others.
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

    /// Deletes a run in the state in which it was listed. A run that was revived since then is not
    /// touched.
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

    /// The background task that applies the retention periodically.
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
