//! The handler of control requests, and the delivery of those that the run itself carries out.

use std::sync::Arc;

use everstep_inspect::Overview;
use everstep_model::{Body, RunId, RunStatus, StreamNumber};
use everstep_store::{BoxFuture, Outcome, Refusal, RowKey};

use super::done::{Because, Done, Effect};
use super::run_state::{RunState, unexpected};
use crate::error::ControlError;
use crate::execution::{Dispatcher, Parts};

/// Delivers the effects of a run on others before the run is deleted.
pub(crate) trait OutboxFlush: Send + Sync {
    /// Delivers all effects of a closed generation, and returns the keys of their rows.
    fn flush<'a>(
        &'a self,
        run: &'a RunId,
        stream: StreamNumber,
    ) -> BoxFuture<'a, Result<Vec<RowKey>, ControlError>>;
}

pub(crate) struct Controller {
    pub(crate) parts: Arc<Parts>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) outbox: Arc<dyn OutboxFlush>,
}

impl Controller {
    /// Appends a request to a run's inbox, unless it has ended or `refuse` returns another reason
    /// not to. The status in lists changes in the same commit.
    pub(super) async fn request(
        &self,
        run: &RunId,
        request: impl Into<Body>,
        refuse: fn(&Overview) -> Option<Because>,
    ) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        let body = request.into();
        loop {
            let state = RunState::read(&self.parts.node, run).await?;
            let finished = state.overview.end.is_some().then_some(Because::Finished);
            if let Some(because) = finished.or_else(|| refuse(&state.overview)) {
                return Ok(state.nothing(because));
            }
            let mut commit = self.dispatcher.inbox_commit(&state.head, body.clone());
            let status = state.status_with(&commit.records);
            commit.status = Some(status);
            match self.dispatcher.deliver(run, commit).await? {
                Outcome::Committed { taken, .. } => {
                    let is_held = taken.is_some() || state.head.owner.is_some();
                    let status = status_if_held(status, is_held);
                    return Ok(Done::of(&state.row, status, self.effect_on(&state, status)));
                }
                Outcome::Duplicate { .. } => {
                    return Ok(Done::of(&state.row, status, self.effect_on(&state, status)));
                }
                // The run ended or was deleted concurrently: look again.
                Outcome::Refused(Refusal::Closed | Refusal::NoStream) => {}
                Outcome::Refused(refusal) => return Err(unexpected(run, &refusal)),
            }
        }
    }

    /// Returns whether an executor will act on a request. A diverged run needs other code first.
    pub(super) fn effect_on(&self, state: &RunState, status: RunStatus) -> Effect {
        let is_executed = self.is_offered(state) || state.head.owner.is_some();
        match is_executed && status != RunStatus::Diverged {
            true => Effect::Done,
            false => Effect::NeedsWorker,
        }
    }

    pub(super) fn is_offered(&self, state: &RunState) -> bool {
        let (workflow, version) = (&state.row.workflow, state.row.version);
        self.parts.workers.executor(workflow, version).is_some()
    }
}

/// Returns the status that the store gives to a run by a delivery with this status.
pub(super) fn status_if_held(named: RunStatus, is_held: bool) -> RunStatus {
    match named {
        RunStatus::Queued if is_held => RunStatus::Running,
        status => status,
    }
}
