//! Deletes runs with all generations, rows and keys. The id can then be used again.

use everstep_model::{Body, Generation, RunId, StreamName, StreamNumber};
use everstep_store::{Guard, KeyTooLong, Outcome, Refusal, RemoveCommit, RowKey, StoreError};

use super::controller::Controller;
use super::done::{Done, Effect, RequestOrigin};
use super::run_state::unexpected;
use crate::commit::{mark_key, position_key};
use crate::error::ControlError;

impl Controller {
    /// Deletes a run. A run in progress is terminated first.
    pub(super) async fn delete(
        &self,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        loop {
            let (head, row) = self.parts.node.find(run).await?;
            if !head.closed {
                let origin = origin.or_reason("deleted");
                self.parts.terminate(run, origin).await?;
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
        let mut commit = RemoveCommit::new(streams.clone(), self.parts.node.now());
        commit.rows.delete.push(RowKey::Generation(run.clone()));
        self.after_feeds(run, last, &mut commit)?;
        for stream in &streams {
            let delivered = self.outbox.flush(run, *stream).await?;
            commit.rows.delete.extend(delivered);
        }
        commit.rows.delete.extend(self.used_key(&streams).await?);
        match self.parts.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                for stream in streams {
                    self.parts.watchers.grew(stream, true);
                }
                Ok(true)
            }
            // Its last records are not in the feeds yet.
            Outcome::Refused(Refusal::RowPresent(_)) => Ok(false),
            Outcome::Refused(Refusal::NoStream | Refusal::Open | Refusal::Superseded) => Ok(false),
            Outcome::Refused(refusal) => Err(unexpected(run, &refusal)),
        }
    }

    /// Makes a deletion wait until the feeds have copied the journals, and removes the positions of
    /// the feeds.
    fn after_feeds(
        &self,
        run: &RunId,
        last: Generation,
        commit: &mut RemoveCommit,
    ) -> Result<(), ControlError> {
        for &feed in &self.parts.node.settings.feeds {
            for &stream in &commit.streams {
                let mark = mark_key(feed, stream.0.into()).map_err(too_long)?;
                commit.guards.push(Guard::RowAbsent(RowKey::Shared(mark)));
            }
            for generation in Generation::FIRST.0..=last.0 {
                let name = StreamName::of_run(run, Generation(generation));
                let mark = mark_key(feed, name.as_str().into()).map_err(too_long)?;
                commit.guards.push(Guard::RowAbsent(RowKey::Shared(mark)));
                let position = position_key(feed, &name).map_err(too_long)?;
                commit.rows.delete.push(RowKey::Shared(position));
            }
        }
        Ok(())
    }

    /// Returns the journals of all generations, the latest first.
    async fn generations(
        &self,
        run: &RunId,
        latest: Generation,
    ) -> Result<Vec<StreamNumber>, StoreError> {
        let mut streams = Vec::new();
        for generation in (Generation::FIRST.0..=latest.0).rev() {
            let head = self.parts.node.generation(run, Generation(generation));
            streams.extend(head.await?.map(|head| head.number));
        }
        Ok(streams)
    }

    /// Returns the row of the idempotency key of the run. If its first record is damaged, the key
    /// is unknown, and its row remains.
    async fn used_key(&self, streams: &[StreamNumber]) -> Result<Option<RowKey>, StoreError> {
        let Some(first) = streams.last() else {
            return Ok(None);
        };
        let entry = match self.parts.node.first_record(*first).await {
            Err(error) if error.is_damage() => {
                tracing::warn!(stream = %first, %error, "cannot delete the idempotency key of a run");
                None
            }
            first => first?,
        };
        Ok(entry.and_then(|entry| {
            let Body::Created(created) = entry.record.body else {
                return None;
            };
            let key = created.idempotency_key?;
            Some(RowKey::Idempotency(created.workflow, key))
        }))
    }
}

fn too_long(error: KeyTooLong) -> StoreError {
    StoreError::corrupt("a feed", error.to_string())
}
