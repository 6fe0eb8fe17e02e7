//! Terminates runs immediately, whether or not they have an executor.
//!
//! This takes two commits. The first revokes the claim of the executor, after which the journal can
//! only grow by inbox records. The second ends the run, and is repeated if the journal grew.
//! Between them the run is ready and unclaimed: if the second commit never happens, the run
//! continues.
//!
//! The second commit also ends what the run left open: timers, rpcs and children. If the journal is
//! long or damaged, it is not read before, and the effect `EndOpen` ends
//! them afterwards.

use std::sync::Arc;

use everstep_inspect::Overview;
use everstep_model::record::Terminated;
use everstep_model::{
    Body, Entry, Generation, Location, Record, RunId, RunStatus, StepStatus, StreamNumber,
};
use everstep_store::{
    Commit, DeliverCommit, Guard, Head, Hint, InboxLease, Outcome, Refusal, RunRow, StoreError,
};

use super::done::{Because, Done, Effect, RequestOrigin};
use super::run_state::unexpected;
use crate::commit::PostCommit;
use crate::commit::projection::{Cause, OpenChildren, OpenRows, Origin};
use crate::error::ControlError;
use crate::execution::Parts;

impl Parts {
    /// Ends a run immediately.
    pub(super) async fn terminate(
        self: &Arc<Self>,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (head, _) = self.node.find(run).await?;
        self.terminate_generation(run, head.number, origin).await
    }

    /// Ends one generation of a run immediately. A later generation is not affected.
    pub(crate) async fn terminate_generation(
        self: &Arc<Self>,
        run: &RunId,
        generation: StreamNumber,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.terminate_before(run, generation, origin, None).await
    }

    /// Ends one generation of a run immediately, and announces the next one to readers of its journal.
    pub(super) async fn terminate_before(
        self: &Arc<Self>,
        run: &RunId,
        generation: StreamNumber,
        origin: RequestOrigin,
        next: Option<Generation>,
    ) -> Result<Done, ControlError> {
        self.committer.check_open()?;
        loop {
            let (head, row) = self.node.find(run).await?;
            if head.closed || head.number != generation {
                let finished = Effect::Nothing(Because::Finished);
                return Ok(Done::of(&row, row.status, finished));
            }
            self.revoke(head.number).await?;
            let ended = self.end_now((run, &head, &row), &origin, next).await;
            if ended.is_err() {
                self.node.bus.publish(Hint::Ready(head.number));
            }
            if let Some(done) = ended? {
                return Ok(done);
            }
        }
    }

    /// Revokes the claim of the executor: its later appends fail.
    pub(super) async fn revoke(self: &Arc<Self>, stream: StreamNumber) -> Result<(), StoreError> {
        let now = self.node.now();
        let mut commit = DeliverCommit::new(stream, now);
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(true);
        let revoked = self.commit_and_revoke(stream, commit.into()).await;
        revoked.map(drop)
    }

    /// Makes a commit that revokes the claim of the executor. Notifies a local executor before the
    /// run can be claimed again.
    pub(super) async fn commit_and_revoke(
        self: &Arc<Self>,
        stream: StreamNumber,
        commit: Commit,
    ) -> Result<Outcome, StoreError> {
        let parts = self.clone();
        let then = move |outcome: &Result<Outcome, StoreError>| {
            if matches!(outcome, Ok(Outcome::Committed { .. })) {
                parts.resident.revoke(stream);
            }
        };
        self.committer.commit_with(commit, then).await
    }

    /// Makes the second commit. Returns `None` if the run changed concurrently.
    async fn end_now(
        self: &Arc<Self>,
        (run, head, row): (&RunId, &Head, &RunRow),
        origin: &RequestOrigin,
        next_generation: Option<Generation>,
    ) -> Result<Option<Done>, ControlError> {
        let (stream, now) = (head.number, self.node.now());
        let journal = self.journal_to_end(stream).await?;
        let mut commit = DeliverCommit::new(stream, now);
        let abandoned = journal.as_deref().map(running_steps);
        let end: Body = Terminated {
            by: origin.by.clone(),
            reason: origin.reason.clone(),
            abandoned: abandoned.unwrap_or_default(),
            next_generation,
        }
        .into();
        let origin = match &journal {
            Some(journal) => Origin::of(journal),
            None => self.origin_of_unread(stream).await?,
        };
        let cause = Cause {
            stream,
            run,
            generation: row.generation,
            origin: &origin,
        };
        match &journal {
            Some(journal) => {
                let next = journal.last().map(|last| last.number.plus(1));
                commit.guards.push(Guard::EndsAt(next.unwrap_or_default()));
                let children = OpenChildren::of(journal).into_left();
                commit.rows.put = cause.effects_of_end(&end, &children);
                let records = journal.iter().map(|entry| &entry.record);
                commit.rows.delete = OpenRows::of(records, stream).into_keys();
            }
            None => commit.rows.put = cause.effects_of_unread_end(&end),
        }
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(false);
        commit.status = Some(RunStatus::Terminated);
        commit.close = true;
        commit.records.push(Record {
            time: now,
            body: end,
        });
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(run, &commit, Vec::new());
        match self.commit_and_revoke(stream, commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                self.post_commit.apply(stream, effects);
                let status = RunStatus::Terminated;
                Ok(Some(Done::of(row, status, Effect::Done)))
            }
            Outcome::Refused(Refusal::EndsElsewhere(_) | Refusal::Closed | Refusal::NoStream) => {
                Ok(None)
            }
            Outcome::Refused(refusal) => Err(unexpected(run, &refusal)),
        }
    }

    /// Reads a journal to find what the run leaves open. `None` if it is long or damaged: the run
    /// can be ended nevertheless, and what it leaves open is ended afterwards.
    async fn journal_to_end(&self, stream: StreamNumber) -> Result<Option<Vec<Entry>>, StoreError> {
        match self.node.read_short_journal(stream).await {
            Err(error) if error.is_damage() => Ok(None),
            journal => journal,
        }
    }

    /// Returns the origin of a run from the first record alone.
    async fn origin_of_unread(&self, stream: StreamNumber) -> Result<Origin, StoreError> {
        match self.node.first_record(stream).await {
            Err(error) if error.is_damage() => Ok(Origin::default()),
            first => Ok(Origin::of(first?.as_slice())),
        }
    }
}

fn running_steps(journal: &[Entry]) -> Vec<Location> {
    let steps = Overview::of(journal).steps.into_iter();
    let running = steps.filter(|step| step.status == StepStatus::Running);
    running.map(|step| step.location).collect()
}
