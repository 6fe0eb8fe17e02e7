//! Delivering one effect. Each delivery is a commit that changes nothing the second time, so it may be repeated by anybody
//! at any time.

use std::sync::Arc;

use everstep_model::planted::{self, Bug};
use everstep_model::record::{CancelRequested, ChildFinished as FinishedRecord, ChildOutcome};
use everstep_model::{
    ErrorCode, Failure, Link, Record, RecordNumber, RunId, StreamName, StreamNumber,
};
use everstep_store::{Head, Outcome, ReadRequest, Refusal, StoreError, StreamRef};

use super::birth::Birth;
use super::effect::{ChildFinished, Effect, StartChild, outcome_of};
use crate::control::RequestOrigin;
use crate::core::Core;
use crate::error::{CodedError, ControlError, OtherWorkflow, ReadError, StartError, Unavailable};
use crate::start::Start;

/// What became of an effect.
#[derive(Debug)]
pub(super) enum Delivery {
    /// It is done, or can never be: it may go.
    Done,
    /// Not now.
    Later(String),
    /// Not by this node: another one knows the workflow, or a newer release.
    Elsewhere,
    /// When this run is over.
    Awaiting(RunId),
}

impl Core {
    pub(super) async fn deliver_effect(self: &Arc<Self>, effect: Effect) -> Delivery {
        let delivered = match effect {
            Effect::StartChild(start) => self.start_child(start).await,
            Effect::AwaitRun { run, parent } => self.await_run(&run, &parent).await,
            Effect::ChildFinished(finished) => self.tell_parent(finished).await,
            Effect::CancelRun { run, parent } => self.cancel_child(&run, &parent).await,
            Effect::TerminateRun { run, parent } => self.terminate_child(&run, &parent).await,
            effect @ Effect::SendEvent { .. } => {
                let event = effect.event().into_iter().collect();
                let delivered = self.deliver_events(event).await.pop();
                Ok(delivered.unwrap_or(Delivery::Done))
            }
        };
        delivered.unwrap_or_else(|error| Delivery::Later(error.to_string()))
    }

    async fn start_child(self: &Arc<Self>, child: StartChild) -> Result<Delivery, ControlError> {
        if child.run == child.parent.run {
            return self
                .refuse_child(&child, &waits_for_itself(&child.run))
                .await;
        }
        match self.start(self.birth_of(&child)).await {
            Ok(started) if started.created => Ok(Delivery::Done),
            Ok(started) => {
                if planted::is(Bug::ChildStartedTwice) {
                    let mut other = self.birth_of(&child);
                    other.id = None;
                    if let Err(error) = self.start(other).await {
                        return Ok(Delivery::Later(error.to_string()));
                    }
                }
                self.adopt(&child, started.stream).await
            }
            Err(StartError::UnknownWorkflow(_)) => self.start_elsewhere(&child).await,
            Err(StartError::Unavailable(error)) => Err(error.into()),
            Err(error) => self.refuse_child(&child, &error.failure()).await,
        }
    }

    /// How a child is started.
    fn birth_of(&self, child: &StartChild) -> Start {
        let mut start = Start::new(child.workflow.clone(), child.input.clone());
        start.id = Some(child.run.clone());
        start.tags = child.tags.clone();
        start.parent = (!child.detached).then(|| child.parent.clone());
        start.by = Some(format!("run {}", child.parent.run));
        start.trace = child.trace;
        start
    }

    /// Nobody here knows the workflow: another node starts the child, unless it is there already.
    async fn start_elsewhere(
        self: &Arc<Self>,
        child: &StartChild,
    ) -> Result<Delivery, ControlError> {
        match self.find(&child.run).await {
            Ok((head, row)) if row.workflow == child.workflow => {
                self.adopt(child, head.number).await
            }
            Ok((_, row)) => {
                let error = OtherWorkflow {
                    run: row.id,
                    workflow: row.workflow,
                    asked: child.workflow.clone(),
                };
                self.refuse_child(child, &error.failure()).await
            }
            Err(ReadError::UnknownRun(_)) => Ok(Delivery::Elsewhere),
            Err(ReadError::Unavailable(error)) => Err(error.into()),
        }
    }

    /// The run is there. If this operation started it, it tells its end by itself; another one is waited for.
    async fn adopt(
        self: &Arc<Self>,
        child: &StartChild,
        stream: StreamNumber,
    ) -> Result<Delivery, ControlError> {
        if child.detached {
            return Ok(Delivery::Done);
        }
        match self.birth(stream).await?.parent {
            Some(parent) if parent == child.parent => Ok(Delivery::Done),
            _ => self.await_run(&child.run, &child.parent).await,
        }
    }

    async fn await_run(
        self: &Arc<Self>,
        run: &RunId,
        parent: &Link,
    ) -> Result<Delivery, ControlError> {
        let failed = |failure| ChildFinished {
            parent: parent.clone(),
            run: run.clone(),
            generation: parent.generation,
            identity: None,
            outcome: ChildOutcome::Failed(failure),
        };
        if *run == parent.run {
            return self.tell_parent(failed(waits_for_itself(run))).await;
        }
        let (head, row) = match self.find(run).await {
            Ok(found) => found,
            Err(ReadError::UnknownRun(error)) => {
                // The journal that was copied may have caused its start, which is not delivered yet.
                if self.open_parent(parent).await?.is_some() && self.is_to_be_born(run).await? {
                    return Ok(Delivery::Later("the run is not there yet".to_owned()));
                }
                return self.tell_parent(failed(error.failure())).await;
            }
            Err(ReadError::Unavailable(error)) => return Err(error.into()),
        };
        if !head.closed {
            return Ok(match self.open_parent(parent).await? {
                Some(_) => Delivery::Awaiting(run.clone()),
                None => Delivery::Done,
            });
        }
        let last = RecordNumber(head.next.0.saturating_sub(1));
        let end = self.read_journal(head.number, last).await?.pop();
        let outcome = end.and_then(|end| outcome_of(&end.record.body));
        let finished = match outcome {
            Some(outcome) => ChildFinished {
                generation: row.generation,
                identity: self.birth(head.number).await?.identity,
                outcome,
                ..failed(Failure::new(ErrorCode::UnknownRun, ""))
            },
            None => {
                let message = "its journal is closed without an end";
                failed(Failure::new(ErrorCode::StoreCorrupt, message))
            }
        };
        self.tell_parent(finished).await
    }

    /// The run that waits at this place, unless it is over. One that has got its id since waits for nothing of its.
    async fn open_parent(&self, parent: &Link) -> Result<Option<Head>, Unavailable> {
        let name = StreamName::of_run(&parent.run, parent.generation);
        let head = self.store.head(StreamRef::Name(name)).await?;
        let Some(head) = head.filter(|head| !head.closed) else {
            return Ok(None);
        };
        let is_it = match parent.identity {
            Some(_) => self.birth(head.number).await?.identity == parent.identity,
            None => true,
        };
        Ok(is_it.then_some(head))
    }

    /// The child cannot be had: whoever waits for it hears so.
    async fn refuse_child(
        self: &Arc<Self>,
        child: &StartChild,
        failure: &Failure,
    ) -> Result<Delivery, ControlError> {
        if child.detached {
            tracing::warn!(child = %child.run, parent = %child.parent.run, %failure, "a detached child could not be started");
            return Ok(Delivery::Done);
        }
        let finished = ChildFinished {
            parent: child.parent.clone(),
            run: child.run.clone(),
            generation: child.parent.generation,
            identity: None,
            outcome: ChildOutcome::Failed(failure.clone()),
        };
        self.tell_parent(finished).await
    }

    async fn tell_parent(
        self: &Arc<Self>,
        finished: ChildFinished,
    ) -> Result<Delivery, ControlError> {
        let Some(head) = self.open_parent(&finished.parent).await? else {
            return Ok(Delivery::Done);
        };
        let mut commit = self.inbox_commit(&head);
        commit.dedup = Some(format!("child:{}", finished.key()));
        let parent = finished.parent;
        commit.records.push(Record {
            time: commit.now,
            body: FinishedRecord {
                location: parent.location,
                outcome: finished.outcome,
                run: Some(finished.run),
            }
            .into(),
        });
        let outcome = self.deliver(&parent.run, &head, commit).await?;
        Ok(settled(outcome))
    }

    async fn cancel_child(
        self: &Arc<Self>,
        run: &RunId,
        parent: &Link,
    ) -> Result<Delivery, ControlError> {
        let Some(head) = self.open_child(run, parent).await? else {
            return Ok(Delivery::Done);
        };
        let mut commit = self.inbox_commit(&head);
        commit.dedup = Some(format!("cancel:{}", parent.key()));
        commit.records.push(Record {
            time: commit.now,
            body: CancelRequested {
                by: Some(format!("run {}", parent.run)),
                reason: Some(left_by(parent)),
                rollback: true,
            }
            .into(),
        });
        let outcome = self.deliver(run, &head, commit).await?;
        Ok(settled(outcome))
    }

    async fn terminate_child(
        self: &Arc<Self>,
        run: &RunId,
        parent: &Link,
    ) -> Result<Delivery, ControlError> {
        if let Some(head) = self.open_child(run, parent).await? {
            let origin = RequestOrigin {
                by: Some(format!("run {}", parent.run)),
                reason: Some(left_by(parent)),
            };
            self.terminate_life(run, head.number, origin).await?;
        }
        Ok(Delivery::Done)
    }

    /// The child that this operation started, if it is not over. Runs that were only waited for are nobody's to end.
    async fn open_child(&self, run: &RunId, parent: &Link) -> Result<Option<Head>, Unavailable> {
        let head = match self.find(run).await {
            Ok((head, _)) => head,
            Err(ReadError::UnknownRun(_)) => return Ok(None),
            Err(ReadError::Unavailable(error)) => return Err(error),
        };
        if head.closed {
            return Ok(None);
        }
        let started_by = self.birth(head.number).await?.parent;
        let is_its_own = started_by.is_some_and(|starter| starter.may_be(parent));
        Ok(is_its_own.then_some(head))
    }

    /// Where the run with this journal comes from.
    async fn birth(&self, stream: StreamNumber) -> Result<Birth, StoreError> {
        let request = ReadRequest {
            stream,
            from: RecordNumber(0),
            limit: 1,
            bytes: usize::MAX,
        };
        let page = self.store.read(request).await?.unwrap_or_default();
        Ok(Birth::of(&page.entries))
    }
}

/// What a delivery came to: a run that is over, or does not exist any more, needs nothing.
pub(super) fn settled(outcome: Outcome) -> Delivery {
    match outcome {
        Outcome::Committed { .. }
        | Outcome::Duplicate { .. }
        | Outcome::Refused(Refusal::Closed | Refusal::NoStream) => Delivery::Done,
        Outcome::Refused(refusal) => Delivery::Later(refusal.to_string()),
    }
}

fn left_by(parent: &Link) -> String {
    format!("its parent `{}` no longer waits for it", parent.run)
}

fn waits_for_itself(run: &RunId) -> Failure {
    let message = format!("run `{run}` would wait for itself; choose another id for the child");
    Failure::new(ErrorCode::InvalidOptions, message)
}
