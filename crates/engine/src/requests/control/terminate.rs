//! Terminates runs immediately, whether or not they have an executor.
//!
//! This takes two commits. The first revokes the claim of the executor, after which the journal can
//! only grow by inbox records. The second ends the run, and is repeated if the journal grew.
//! Between them the run is ready and unclaimed: if the second commit never happens, the run
//! continues.
//!
//! The second commit also ends what the run left open: timers, rpcs and children. The run is ended
//! even if its journal is damaged, and then with what was open before the damage.

use std::sync::Arc;

use everstep_model::record::Terminated;
use everstep_model::{Body, Generation, Record, RunId, RunStatus, StreamNumber};
use everstep_store::{
    Commit, DeliverCommit, Hint, InboxLease, Outcome, Refusal, RunRow, StoreError,
};

use super::done::{Because, Done, Effect, RequestOrigin};
use super::left_open::LeftOpen;
use super::run_state::unexpected;
use crate::commit::PostCommit;
use crate::commit::projection::Cause;
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

    /// Ends one generation of a run immediately, and announces the next one to readers of its
    /// journal.
    pub(super) async fn terminate_before(
        self: &Arc<Self>,
        run: &RunId,
        generation: StreamNumber,
        origin: RequestOrigin,
        next: Option<Generation>,
    ) -> Result<Done, ControlError> {
        self.committer.check_open()?;
        let mut open = LeftOpen::new(generation);
        loop {
            let (head, row) = self.node.find(run).await?;
            if head.closed || head.number != generation {
                let finished = Effect::Nothing(Because::Finished);
                return Ok(Done::of(&row, row.status, finished));
            }
            // Most of the journal is read while the executor still has the run, so that little is
            // left to read between the commits.
            open.read_on(&self.node).await?;
            self.revoke(head.number).await?;
            let ended = self.end_now((run, &row), &mut open, &origin, next).await;
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
        (run, row): (&RunId, &RunRow),
        open: &mut LeftOpen,
        origin: &RequestOrigin,
        next_generation: Option<Generation>,
    ) -> Result<Option<Done>, ControlError> {
        open.read_on(&self.node).await?;
        let (stream, now) = (open.stream(), self.node.now());
        if self.node.is_shared {
            // The ends of children must not overtake starts that another node could not deliver.
            let undelivered = self.node.outbox_of(stream).await?;
            self.post_commit.outbox.found(undelivered);
        }
        let mut commit = DeliverCommit::new(stream, now);
        let end: Body = Terminated {
            by: origin.by.clone(),
            reason: origin.reason.clone(),
            abandoned: open.steps(),
            next_generation,
        }
        .into();
        let cause = Cause {
            stream,
            run,
            generation: row.generation,
            origin: &open.origin(),
        };
        commit.guards.extend(open.guard());
        commit.rows.put = cause.effects_of_end(&end, &open.children());
        commit.rows.delete = open.rows();
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
}
