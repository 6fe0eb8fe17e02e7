//! Terminating: the run ends at once, whatever it is doing, with or without anybody to execute it.
//!
//! Two commits. The first withdraws the right to execute, so that the journal stands still but for its inbox; the second
//! ends the run with what it then holds, and is done again if something came meanwhile. Between them the run has its
//! ready mark and no holder: should nobody write the second, it goes on.

use std::sync::Arc;

use everstep_model::record::Terminated;
use everstep_model::{Body, Location, Record, RunId, RunStatus, StepStatus, StreamNumber};
use everstep_store::{
    Commit, DeliverCommit, Guard, Hint, InboxLease, Outcome, Refusal, StoreError,
};

use super::{Asked, Because, Done, Effect, Sight};
use crate::core::Core;
use crate::effects::Effects;
use crate::error::ControlError;
use crate::outbox::{Birth, Cause, left_by};
use crate::projection;

impl Core {
    /// Ends a run at once.
    pub(crate) async fn terminate(
        self: &Arc<Self>,
        run: &RunId,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        let (head, _) = self.find(run).await?;
        self.terminate_life(run, head.number, asked).await
    }

    /// Ends one life of a run at once; another one that has begun meanwhile is left alone.
    pub(crate) async fn terminate_life(
        self: &Arc<Self>,
        run: &RunId,
        life: StreamNumber,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        loop {
            let (head, row) = self.find(run).await?;
            if head.closed || head.number != life {
                let finished = Effect::Nothing(Because::Finished);
                return Ok(Done::of(&row, row.status, finished));
            }
            self.withdraw(head.number).await?;
            let ended = self.end_now(run, head.number, &asked).await;
            if ended.is_err() {
                self.bus.publish(Hint::Ready(head.number));
            }
            if let Some(done) = ended? {
                return Ok(done);
            }
        }
    }

    /// Takes the right to execute from whoever has it: nothing of theirs lands any more.
    pub(super) async fn withdraw(self: &Arc<Self>, stream: StreamNumber) -> Result<(), StoreError> {
        let now = self.runtime.now();
        let mut commit = DeliverCommit::new(stream, now);
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(true);
        self.commit_and_lose(stream, commit.into()).await.map(drop)
    }

    /// Commits something that withdraws the right to execute, and tells the executor here that it lost the run before
    /// anybody can take it anew.
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

    /// The second commit; none if the run changed meanwhile.
    async fn end_now(
        self: &Arc<Self>,
        run: &RunId,
        stream: StreamNumber,
        asked: &Asked,
    ) -> Result<Option<Done>, ControlError> {
        let sight = self.sight(run).await?;
        if sight.head.number != stream || sight.overview.end.is_some() {
            return Ok(None);
        }
        let now = self.runtime.now();
        let mut commit = DeliverCommit::new(stream, now);
        let end: Body = Terminated {
            by: asked.by.clone(),
            reason: asked.reason.clone(),
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
        commit.put = cause.effects_of_end(&end, &left_by(&sight.journal));
        commit.delete = projection::rows_left(&sight.journal, stream);
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
