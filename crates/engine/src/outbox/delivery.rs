//! Delivers single effects. Each delivery is an idempotent commit, so that any node may repeat it
//! at any time.

use std::sync::Arc;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{CancelRequested, ChildFinished as FinishedRecord};
use everstep_model::{Body, ErrorCode, Failure, Link, RunId, StreamNumber};
use everstep_store::{Head, Outcome, Refusal, StoreError};

use crate::commit::projection::{ChildFinished, Effect, Origin, StartChild, outcome_of};
use crate::error::{CodedError, ControlError, OtherWorkflow, StartError, UnknownRun};
use crate::execution::{Dispatcher, Parts};
use crate::requests::control::RequestOrigin;
use crate::requests::{Requests, SendEvent, Start};

/// The result of a delivery.
#[derive(Debug)]
pub(super) enum Delivery {
    /// The effect is delivered, or can never be: its row is deleted.
    Done,
    /// The delivery failed for this reason and is retried.
    Later(String),
    /// This node cannot deliver it: another one knows the workflow, or is a newer release.
    Elsewhere,
    /// The effect is delivered when this run has ended.
    Awaiting(RunId),
}

pub(crate) struct Deliverer {
    pub(crate) parts: Arc<Parts>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) requests: Arc<Requests>,
}

impl Deliverer {
    pub(super) async fn deliver(&self, effect: Effect) -> Delivery {
        let delivery = match effect {
            Effect::StartChild(start) => self.start_child(start).await,
            Effect::AwaitRun { run, parent } => self.await_run(&run, &parent).await,
            Effect::ChildFinished(finished) => self.report_end(finished).await,
            Effect::CancelRun { run, parent } => self.cancel_child(&run, &parent).await,
            Effect::TerminateRun { run, parent } => self.terminate_child(&run, &parent).await,
            effect @ Effect::SendEvent { .. } => {
                let event = SendEvent::of_effect(&effect).into_iter().collect();
                let delivery = self.deliver_events(event).await.pop();
                Ok(delivery.unwrap_or(Delivery::Done))
            }
        };
        delivery.unwrap_or_else(|error| Delivery::Later(error.to_string()))
    }

    async fn start_child(&self, child: StartChild) -> Result<Delivery, ControlError> {
        if child.run == child.parent.run {
            let failure = waits_for_itself(&child.run);
            return self.refuse_child(&child, failure).await;
        }
        match self.requests.start(start_of(&child)).await {
            Ok(started) if started.created => Ok(Delivery::Done),
            Ok(started) => {
                if planted::is(Bug::ChildStartedTwice) {
                    let mut other = start_of(&child);
                    other.id = None;
                    if let Err(error) = self.requests.start(other).await {
                        return Ok(Delivery::Later(error.to_string()));
                    }
                }
                self.adopt(&child, started.stream).await
            }
            Err(StartError::UnknownWorkflow(_)) => self.start_elsewhere(&child).await,
            Err(StartError::Unavailable(error)) => Err(error.into()),
            Err(error) => self.refuse_child(&child, error.failure()).await,
        }
    }

    /// Leaves the start to another node if the child does not exist, because this node does not
    /// know the workflow.
    async fn start_elsewhere(&self, child: &StartChild) -> Result<Delivery, ControlError> {
        let Some((head, row)) = self.parts.node.latest(&child.run).await? else {
            return Ok(Delivery::Elsewhere);
        };
        if row.workflow == child.workflow {
            return self.adopt(child, head.number).await;
        }
        let error = OtherWorkflow {
            run: row.id,
            workflow: row.workflow,
            asked: child.workflow.clone(),
        };
        self.refuse_child(child, error.failure()).await
    }

    /// Handles a child that exists. If this operation started it, the child reports its end by
    /// itself. Otherwise the operation waits for the end of the run.
    async fn adopt(
        &self,
        child: &StartChild,
        stream: StreamNumber,
    ) -> Result<Delivery, ControlError> {
        if child.detached {
            return Ok(Delivery::Done);
        }
        match self.origin(stream).await?.parent {
            Some(parent) if parent == child.parent => Ok(Delivery::Done),
            _ => self.await_run(&child.run, &child.parent).await,
        }
    }

    async fn await_run(&self, run: &RunId, parent: &Link) -> Result<Delivery, ControlError> {
        let failed = |failure| ChildFinished::failed(run, parent, failure);
        if *run == parent.run {
            return self.report_end(failed(waits_for_itself(run))).await;
        }
        let Some((head, row)) = self.parts.node.latest(run).await? else {
            // The copied journal may have caused a start that is not delivered yet.
            if self.open_parent(parent).await?.is_some() && self.is_start_pending(run).await? {
                return Ok(Delivery::Later("the run is not started yet".to_owned()));
            }
            let failure = UnknownRun(run.clone()).failure();
            return self.report_end(failed(failure)).await;
        };
        if !head.closed {
            return Ok(match self.open_parent(parent).await? {
                Some(_) => Delivery::Awaiting(run.clone()),
                None => Delivery::Done,
            });
        }
        let end = self.parts.node.last_record(&head).await?;
        let outcome = end.and_then(|end| outcome_of(&end.body));
        let finished = match outcome {
            Some(outcome) => ChildFinished {
                generation: row.generation,
                identity: self.origin(head.number).await?.identity,
                outcome,
                ..failed(Failure::new(ErrorCode::UnknownRun, ""))
            },
            None => {
                let message = "its journal is closed without an end";
                failed(Failure::new(ErrorCode::StoreCorrupt, message))
            }
        };
        self.report_end(finished).await
    }

    /// Returns whether a run that was not found will be started, or has been meanwhile. The effect
    /// is removed only after the run exists, so if neither is found, the run is looked up again.
    async fn is_start_pending(&self, run: &RunId) -> Result<bool, StoreError> {
        let node = &self.parts.node;
        let starts_it = |effect| matches!(effect, Effect::StartChild(start) if start.run == *run);
        let mut after = None;
        loop {
            let page = node.outbox_after(&mut after).await?;
            if page.is_empty() {
                return Ok(node.latest(run).await?.is_some());
            }
            let effects = page.iter().map(|row| &row.effect);
            if effects.filter_map(Effect::from_payload).any(starts_it) {
                return Ok(true);
            }
        }
    }

    /// Returns the run that waits, if it is open. A later run with the same id does not wait.
    async fn open_parent(&self, parent: &Link) -> Result<Option<Head>, StoreError> {
        let (run, generation) = (&parent.run, parent.generation);
        let head = self.parts.node.generation(run, generation).await?;
        let Some(head) = head.filter(|head| !head.closed) else {
            return Ok(None);
        };
        let is_same = match parent.identity {
            Some(_) => self.origin(head.number).await?.identity == parent.identity,
            None => true,
        };
        Ok(is_same.then_some(head))
    }

    /// Reports to the parent that the child cannot be started.
    async fn refuse_child(
        &self,
        child: &StartChild,
        failure: Failure,
    ) -> Result<Delivery, ControlError> {
        if child.detached {
            tracing::warn!(child = %child.run, parent = %child.parent.run, %failure, "cannot start a detached child");
            return Ok(Delivery::Done);
        }
        let finished = ChildFinished::failed(&child.run, &child.parent, failure);
        self.report_end(finished).await
    }

    async fn report_end(&self, finished: ChildFinished) -> Result<Delivery, ControlError> {
        let Some(head) = self.open_parent(&finished.parent).await? else {
            return Ok(Delivery::Done);
        };
        let dedup = format!("child:{}", finished.key());
        let parent = finished.parent;
        let record = FinishedRecord {
            location: parent.location,
            outcome: finished.outcome,
            run: Some(finished.run),
        };
        self.deliver_once(&parent.run, &head, dedup, record).await
    }

    async fn cancel_child(&self, run: &RunId, parent: &Link) -> Result<Delivery, ControlError> {
        let Some(head) = self.open_child(run, parent).await? else {
            return Ok(Delivery::Done);
        };
        let RequestOrigin { by, reason } = left_by(parent);
        let rollback = true;
        let request = CancelRequested {
            by,
            reason,
            rollback,
        };
        let dedup = format!("cancel:{}", parent.key());
        self.deliver_once(run, &head, dedup, request).await
    }

    /// Delivers a record to the inbox of a run, unless one with the same dedup id was delivered.
    async fn deliver_once(
        &self,
        run: &RunId,
        head: &Head,
        dedup: String,
        record: impl Into<Body>,
    ) -> Result<Delivery, ControlError> {
        let mut commit = self.dispatcher.inbox_commit(head, record);
        commit.dedup = Some(dedup);
        Ok(delivered(self.dispatcher.deliver(run, commit).await?))
    }

    async fn terminate_child(&self, run: &RunId, parent: &Link) -> Result<Delivery, ControlError> {
        if let Some(head) = self.open_child(run, parent).await? {
            let terminated = self
                .parts
                .terminate_generation(run, head.number, left_by(parent));
            terminated.await?;
        }
        Ok(Delivery::Done)
    }

    /// Returns the child that this operation started, if it is open. Runs that were only awaited
    /// are not ended.
    async fn open_child(&self, run: &RunId, parent: &Link) -> Result<Option<Head>, StoreError> {
        let found = self.parts.node.latest(run).await?;
        let Some((head, _)) = found.filter(|(head, _)| !head.closed) else {
            return Ok(None);
        };
        let started_by = self.origin(head.number).await?.parent;
        let is_its_own = started_by.is_some_and(|starter| starter.may_be(parent));
        Ok(is_its_own.then_some(head))
    }

    async fn origin(&self, stream: StreamNumber) -> Result<Origin, StoreError> {
        let first = self.parts.node.first_record(stream).await?;
        Ok(Origin::of(first.as_slice()))
    }
}

fn start_of(child: &StartChild) -> Start {
    let mut start = Start::new(child.workflow.clone(), child.input.clone());
    start.id = Some(child.run.clone());
    start.tags = child.tags.clone();
    start.parent = (!child.detached).then(|| child.parent.clone());
    start.by = Some(child.parent.run.as_author());
    start.trace = child.trace;
    start
}

/// Returns the result of a commit to the inbox. A run that has ended or was deleted needs no
/// delivery.
pub(super) fn delivered(outcome: Outcome) -> Delivery {
    match outcome {
        Outcome::Committed { .. }
        | Outcome::Duplicate { .. }
        | Outcome::Refused(Refusal::Closed | Refusal::NoStream) => Delivery::Done,
        Outcome::Refused(refusal) => Delivery::Later(refusal.to_string()),
    }
}

fn left_by(parent: &Link) -> RequestOrigin {
    let reason = format!("its parent `{}` no longer waits for it", parent.run);
    RequestOrigin {
        by: Some(parent.run.as_author()),
        reason: Some(reason),
    }
}

fn waits_for_itself(run: &RunId) -> Failure {
    let message = format!("run `{run}` would wait for itself; choose another id for the child");
    Failure::new(ErrorCode::InvalidOptions, message)
}
