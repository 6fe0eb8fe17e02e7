//! Deletes runs with all generations, rows and keys. The id can then be used again.

use std::sync::Arc;

use everstep_model::{Body, Generation, RunId, StreamName, StreamNumber};
use everstep_store::{BoxFuture, Outcome, Refusal, RemoveCommit, RowKey, StoreError, StreamRef};

use super::done::{Done, Effect, RequestOrigin};
use super::run_state::unexpected;
use super::terminate::Terminator;
use crate::commit::Committer;
use crate::error::ControlError;
use crate::node::Node;
use crate::observers::Watchers;

/// Delivers the effects of a run on others before the run is deleted.
pub(crate) trait OutboxSettler: Send + Sync {
    /// Delivers all effects of a closed generation, and returns the keys of their rows.
    fn settle<'a>(
        &'a self,
        run: &'a RunId,
        stream: StreamNumber,
    ) -> BoxFuture<'a, Result<Vec<RowKey>, ControlError>>;
}

pub(crate) struct Deleter {
    pub(crate) node: Arc<Node>,
    pub(crate) committer: Arc<Committer>,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) terminator: Arc<Terminator>,
    pub(crate) outbox: Arc<dyn OutboxSettler>,
}

impl Deleter {
    /// Deletes a run. A run in progress is terminated first.
    pub(crate) async fn delete(
        &self,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.committer.check_open()?;
        loop {
            let (head, row) = self.node.find(run).await?;
            if !head.closed {
                let reason = origin.reason.clone().or(Some("deleted".to_owned()));
                let by = origin.by.clone();
                let origin = RequestOrigin { by, reason };
                self.terminator.terminate(run, origin).await?;
                continue;
            }
            // The run may have been revived or deleted concurrently: look again.
            if self.delete_until(run, row.generation, head.number).await? {
                return Ok(Done::of(&row, row.status, Effect::Deleted));
            }
        }
    }

    /// Deletes a run whose last generation is closed and has this journal. Returns false if that is
    /// no longer so: the run may have been deleted concurrently, and its id used again.
    pub(super) async fn delete_until(
        &self,
        run: &RunId,
        last: Generation,
        journal: StreamNumber,
    ) -> Result<bool, ControlError> {
        let streams = self.generations(run, last).await?;
        if streams.first() != Some(&journal) {
            return Ok(false);
        }
        let mut commit = RemoveCommit::new(streams.clone(), self.node.now());
        commit.rows.delete.push(RowKey::Generation(run.clone()));
        for stream in &streams {
            let settled = self.outbox.settle(run, *stream).await?;
            commit.rows.delete.extend(settled);
        }
        commit.rows.delete.extend(self.used_key(&streams).await?);
        match self.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                for stream in streams {
                    self.watchers.grew(stream, true);
                }
                Ok(true)
            }
            Outcome::Refused(Refusal::NoStream | Refusal::Open | Refusal::Superseded) => Ok(false),
            Outcome::Refused(refusal) => Err(unexpected(run, &refusal)),
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
            let head = self.node.store.head(StreamRef::Name(name)).await?;
            streams.extend(head.map(|head| head.number));
        }
        Ok(streams)
    }

    /// The row of the idempotency key of the run.
    async fn used_key(&self, streams: &[StreamNumber]) -> Result<Option<RowKey>, StoreError> {
        let Some(first) = streams.last() else {
            return Ok(None);
        };
        let entry = self.node.first_record(*first).await?;
        Ok(entry.and_then(|entry| {
            let Body::Created(created) = entry.record.body else {
                return None;
            };
            let key = created.idempotency_key?;
            Some(RowKey::Idempotency(created.workflow, key))
        }))
    }
}
