//! Resuming a paused run: today only a run that the engine itself paused, because it made no progress.

use std::sync::Arc;

use everstep_model::record::ResumeRequested;
use everstep_model::{Record, RunId, RunStatus};
use everstep_store::Outcome;

use crate::core::Core;
use crate::error::EngineError;

impl Core {
    /// Resumes the run if it is paused; says whether it was.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        run: &RunId,
        by: Option<String>,
    ) -> Result<bool, EngineError> {
        self.check_open()?;
        let (head, row) = self.find(run).await?;
        if row.status != RunStatus::Paused {
            return Ok(false);
        }
        let mut commit = self.inbox_commit(&head);
        commit.records.push(Record {
            time: commit.now,
            body: ResumeRequested { by }.into(),
        });
        let outcome = self.deliver(run, &head, commit).await?;
        Ok(matches!(outcome, Outcome::Committed { .. }))
    }
}
