//! Deleting: a run goes with all its generations, rows and keys, and its id can be used anew.

use std::sync::Arc;

use everstep_model::{Body, Generation, RecordNumber, RunId, StreamName, StreamNumber};
use everstep_store::{Outcome, Refusal, RemoveCommit, RowKey, StoreError, StreamRef};

use super::{Asked, Done, Effect};
use crate::core::Core;
use crate::error::ControlError;

impl Core {
    /// Deletes a run. One that is not over is terminated first.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        run: &RunId,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        loop {
            let (head, row) = self.find(run).await?;
            if !head.closed {
                let reason = asked.reason.clone().or(Some("deleted".to_owned()));
                let by = asked.by.clone();
                self.terminate(run, Asked { by, reason }).await?;
                continue;
            }
            // Somebody may have revived or deleted it meanwhile: look again.
            if self.delete_until(run, row.generation, head.number).await? {
                return Ok(Done::of(&row, row.status, Effect::Deleted));
            }
        }
    }

    /// Deletes a run whose last life, which is over, is this one with this journal; false if it is not, or the run is gone.
    /// Somebody else may have deleted it meanwhile, and yet somebody else used its id anew.
    pub(super) async fn delete_until(
        self: &Arc<Self>,
        run: &RunId,
        last: Generation,
        journal: StreamNumber,
    ) -> Result<bool, ControlError> {
        let streams = self.generations(run, last).await?;
        if streams.first() != Some(&journal) {
            return Ok(false);
        }
        let mut commit = RemoveCommit::new(streams.clone(), self.runtime.now());
        commit.delete.push(RowKey::Generation(run.clone()));
        for stream in &streams {
            let settled = self.settle_effects_of(run, *stream).await?;
            commit.delete.extend(settled);
        }
        commit.delete.extend(self.used_key(&streams).await?);
        match self.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                for stream in streams {
                    self.watchers.grew(stream, true);
                }
                Ok(true)
            }
            Outcome::Refused(Refusal::NoStream | Refusal::Open | Refusal::Superseded) => Ok(false),
            Outcome::Refused(refusal) => Err(self.refused(run, &refusal)),
        }
    }

    /// The journals of all generations, the latest first.
    async fn generations(
        &self,
        run: &RunId,
        latest: Generation,
    ) -> Result<Vec<StreamNumber>, StoreError> {
        let mut streams = Vec::new();
        for generation in (Generation::FIRST.0..=latest.0).rev() {
            let name = StreamName::of_run(run, Generation(generation));
            let head = self.store.head(StreamRef::Name(name)).await?;
            streams.extend(head.map(|head| head.number));
        }
        Ok(streams)
    }

    /// The idempotency key that led to the run.
    async fn used_key(&self, streams: &[StreamNumber]) -> Result<Option<RowKey>, StoreError> {
        let Some(first) = streams.last() else {
            return Ok(None);
        };
        let entries = self.read_page(*first, RecordNumber(0), 1).await?;
        Ok(entries.into_iter().next().and_then(|entry| {
            let Body::Created(created) = entry.record.body else {
                return None;
            };
            let key = created.idempotency_key?;
            Some(RowKey::Idempotency(created.workflow, key))
        }))
    }
}
