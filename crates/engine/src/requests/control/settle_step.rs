//! Settles operations without a result: an operator sets the result of a step, skips it, or makes
//! an operation or the run fail.
//!
//! The commit revokes the claim of the executor, so the first result in the journal wins, its own
//! or the operator's. A guard ensures that nothing was appended since the operation was seen
//! without a result.

use everstep_inspect::Overview;
use everstep_model::record::{ForcedFailure, StepEdited, StepSkipped, StepSoFar};
use everstep_model::{Body, ErrorCode, Failure, Location, Payload, Record, RunId, StepStatus};
use everstep_store::{Commit, DeliverCommit, Guard, Hint, InboxLease, Outcome, Refusal};

use super::controller::{Controller, status_if_held};
use super::done::{Because, Done, RequestOrigin};
use super::run_state::{RunState, unexpected};
use crate::commit::PostCommit;
use crate::error::{ControlError, UnknownOperation, WrongState};

/// How many times the commit races with a run that keeps appending before its executor is stopped
/// first.
const RACES_MAX: u32 = 16;

/// How to settle an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// Completes a step with this result without running it.
    Skip(Payload),
    /// Sets the result of a step.
    Edit(Payload),
    /// Makes an operation fail.
    Fail(String),
}

impl Controller {
    /// Settles an operation that has no result.
    pub(super) async fn settle(
        &self,
        run: &RunId,
        location: &Location,
        settlement: Settlement,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        if let Settlement::Skip(result) | Settlement::Edit(result) = &settlement {
            result.check_size()?;
        }
        let mut races = 0;
        loop {
            let state = RunState::read(&self.parts.node, run).await?;
            if state.overview.end.is_some() {
                return Ok(state.nothing(Because::Finished));
            }
            self.check_unsettled(&state, location, &settlement).await?;
            let body = body(&state, location.clone(), &settlement, &origin);
            if let Some(done) = self.overrule(run, &state, body).await? {
                return Ok(done);
            }
            races += 1;
            if races == RACES_MAX {
                self.parts.revoke(state.head.number).await?;
            }
        }
    }

    /// Appends in place of the executor, and has the run executed again. Returns `None` if the run
    /// changed concurrently.
    async fn overrule(
        &self,
        run: &RunId,
        state: &RunState,
        body: Body,
    ) -> Result<Option<Done>, ControlError> {
        let stream = state.head.number;
        let now = self.parts.node.now();
        let mut commit = DeliverCommit::new(stream, now);
        commit.records.push(Record { time: now, body });
        let status = state.status_with(&commit.records);
        commit.guards.push(Guard::EndsAt(state.end()));
        commit.lease = InboxLease::Revoke;
        commit.ready = Some(true);
        commit.status = Some(status);
        let commit = Commit::from(commit);
        let effects = PostCommit::of_run(run, &commit, Vec::new());
        match self.parts.commit_and_revoke(stream, commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {}
            Outcome::Refused(Refusal::EndsElsewhere(_) | Refusal::Closed | Refusal::NoStream) => {
                return Ok(None);
            }
            Outcome::Refused(refusal) => return Err(unexpected(run, &refusal)),
        }
        self.parts.post_commit.apply(stream, effects);
        let is_held = self.claim_settled(state).await;
        let status = status_if_held(status, is_held);
        let effect = self.effect_on(state, status);
        Ok(Some(Done::of(&state.row, status, effect)))
    }

    /// Continues a run after a step was settled. Returns whether this node claimed it.
    async fn claim_settled(&self, state: &RunState) -> bool {
        let stream = state.head.number;
        if !self.is_offered(state) {
            self.parts.node.bus.publish(Hint::Ready(stream));
            return false;
        }
        let claimed = self.dispatcher.claim(stream).await;
        claimed.unwrap_or_else(|error| {
            // The request succeeded anyway; the next sweep executes the run.
            tracing::warn!(%error, run = %state.row.id, "cannot claim a run after a step was settled");
            false
        })
    }

    /// Fails if the operation does not exist, has a result, or cannot have one.
    async fn check_unsettled(
        &self,
        state: &RunState,
        location: &Location,
        settlement: &Settlement,
    ) -> Result<(), ControlError> {
        let run = &state.row.id;
        let wrong = |detail: String| {
            let run = run.clone();
            ControlError::from(WrongState { run, detail })
        };
        let retry = state.overview.execution_retry.as_ref();
        if let (Settlement::Fail(_), Some(retry)) = (settlement, retry) {
            return Err(wrong(format!(
                "its function failed and is retried at {}, so no operation is in progress; make the whole run fail, or try \
                 again then",
                retry.retry_at
            )));
        }
        if let Some(step) = state.overview.step(location) {
            return match step.status {
                StepStatus::Running | StepStatus::Retrying => Ok(()),
                settled => Err(wrong(format!(
                    "step `{location}` is {settled}; to change it, restart the run from it"
                ))),
            };
        }
        let is_named = |body: &Body| body.location() == Some(location);
        let named = self.parts.node.find_record(state.head.number, is_named);
        if named.await?.is_none() {
            return Err(UnknownOperation {
                run: run.clone(),
                location: location.clone(),
            }
            .into());
        }
        match settlement {
            Settlement::Skip(_) | Settlement::Edit(_) => Err(wrong(format!(
                "`{location}` is not a step, so it has no result"
            ))),
            Settlement::Fail(_) if is_open(&state.overview, location) => Ok(()),
            Settlement::Fail(_) => Err(wrong(format!("`{location}` has ended"))),
        }
    }
}

fn body(
    state: &RunState,
    location: Location,
    settlement: &Settlement,
    origin: &RequestOrigin,
) -> Body {
    let by = origin.by.clone();
    let step = state.overview.step(&location);
    let so_far = step.map(|step| StepSoFar {
        attempts: step.attempts,
        started_at: step.started_at,
        sensitive: step.sensitive,
        no_return: step.no_return,
    });
    match settlement.clone() {
        Settlement::Skip(result) => StepSkipped {
            location,
            result,
            by,
            so_far,
        }
        .into(),
        Settlement::Edit(result) => StepEdited {
            location,
            result,
            by,
            so_far,
        }
        .into(),
        Settlement::Fail(message) => ForcedFailure {
            location: Some(location),
            error: forced(Some(&message)),
            by,
            so_far,
        }
        .into(),
    }
}

pub(super) fn forced(reason: Option<&str>) -> Failure {
    let reason = reason.unwrap_or("an operator made it fail");
    Failure::new(ErrorCode::ForcedFailure, reason)
}

/// Returns whether an operation other than a step is still waiting.
fn is_open(overview: &Overview, location: &Location) -> bool {
    let sleeps = overview.sleeps.iter().map(|sleep| &sleep.location);
    let rpcs = overview.rpcs.iter().map(|rpc| &rpc.location);
    let children = overview.children.iter().map(|child| &child.location);
    let mut open = sleeps.chain(rpcs).chain(children);
    let mut waits = overview.waits.iter();
    let has_its_event = |names: &[everstep_model::Name]| {
        let mut events = overview.events.iter();
        events.any(|event| names.contains(&event.name))
    };
    open.any(|at| at == location)
        || waits.any(|wait| wait.location == *location && !has_its_event(&wait.names))
}
