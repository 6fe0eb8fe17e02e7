//! Terminates runs immediately, whether or not they have an executor.
//!
//! This takes two commits. The first revokes the claim of the executor, after which the journal can
//! only grow by inbox records. The second ends the run, and is repeated if the journal grew. Between
//! them the run is ready and unclaimed: if the second commit never happens, the run continues.

use std::sync::Arc;

use everstep_model::record::Terminated;
use everstep_model::{Body, Location, Record, RunId, RunStatus, StepStatus, StreamNumber};
use everstep_store::{
    Commit, DeliverCommit, Guard, Hint, InboxLease, Outcome, Refusal, StoreError,
};

use super::{Because, Done, Effect, RequestOrigin, Sight};
use crate::core::Core;
use crate::effects::Effects;
use crate::error::ControlError;
use crate::outbox::{Birth, Cause, left_by};
use crate::projection;

impl Core {
    /// Ends a run immediately.
    pub(crate) async fn terminate(
        self: &Arc<Self>,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        let (head, _) = self.find(run).await?;
        self.terminate_life(run, head.number, origin).await
    }

    /// Ends one generation of a run immediately. A later generation is not affected.
    pub(crate) async fn terminate_life(
        self: &Arc<Self>,
        run: &RunId,
        life: StreamNumber,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        loop {
            let (head, row) = self.find(run).await?;
            if head.closed || head.number != life {
                let finished = Effect::Nothing(Because::Finished);
                return Ok(Done::of(&row, row.status, finished));
            }
            self.withdraw(head.number).await?;
            let ended = self.end_now(run, head.number, &origin).await;
            if ended.is_err() {
                self.bus.publish(Hint::Ready(head.number));
            }
            if let Some(done) = ended? {
                return Ok(done);
            }
        }
    }

    /// Revokes the claim of the executor: its later appends fail.
    pub(super) async fn withdraw(self: &Arc<Self>, stream: StreamNumber) -> Result<(), StoreError> {
        let now = self.runtime.now();
        let mut commit = DeliverCommit::new(stream, now);
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(true);
        self.commit_and_lose(stream, commit.into()).await.map(drop)
    }

    /// Makes a commit that revokes the claim of the executor. Notifies a local executor before the run
    /// can be claimed again.
    pub(super) async fn commit_and_lose(
        self: &Arc<Self>,
        stream: StreamNumber,
        commit: Commit,
    ) -> Result<Outcome, StoreError> {
        let (send, receive) = tokio::sync::oneshot::channel();
        let core = self.clone();
        let reply = move |_: &mut Commit, outcome: Result<Outcome, StoreError>| {
            if matches!(outcome, Ok(Outcome::Committed { .. })) {
                core.hot.lose(stream);
            }
            let _ = send.send(outcome);
        };
        self.committer.submit(commit, Box::new(reply));
        receive.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable {
                detail: "the engine has stopped".to_owned(),
            })
        })
    }

    /// Makes the second commit. Returns `None` if the run changed concurrently.
    async fn end_now(
        self: &Arc<Self>,
        run: &RunId,
        stream: StreamNumber,
        origin: &RequestOrigin,
    ) -> Result<Option<Done>, ControlError> {
        let sight = self.sight(run).await?;
        if sight.head.number != stream || sight.overview.end.is_some() {
            return Ok(None);
        }
        let now = self.runtime.now();
        let mut commit = DeliverCommit::new(stream, now);
        let end: Body = Terminated {
            by: origin.by.clone(),
            reason: origin.reason.clone(),
            abandoned: running_steps(&sight),
        }
        .into();
        let birth = Birth::of(&sight.journal);
        let cause = Cause {
            stream,
            run,
            generation: sight.row.generation,
            identity: birth.identity,
            parent: birth.parent.as_ref(),
            trace: birth.trace,
        };
        commit.guards.push(Guard::EndsAt(sight.end()));
        commit.rows.put = cause.effects_of_end(&end, &left_by(&sight.journal));
        commit.rows.delete = projection::rows_left(&sight.journal, stream);
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(false);
        commit.status = Some(RunStatus::Terminated);
        commit.close = true;
        commit.records.push(Record {
            time: now,
            body: end,
        });
        let commit = Commit::from(commit);
        let effects = Effects::of(run, &commit, Vec::new());
        match self.commit_and_lose(stream, commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                self.committed(stream, effects);
                let status = RunStatus::Terminated;
                Ok(Some(Done::of(&sight.row, status, Effect::Done)))
            }
            Outcome::Refused(Refusal::EndsElsewhere(_) | Refusal::Closed | Refusal::NoStream) => {
                Ok(None)
            }
            Outcome::Refused(refusal) => Err(self.refused(run, &refusal)),
        }
    }
}

fn running_steps(sight: &Sight) -> Vec<Location> {
    let steps = sight.overview.steps.iter();
    let running = steps.filter(|step| step.status == StepStatus::Running);
    running.map(|step| step.location.clone()).collect()
}
