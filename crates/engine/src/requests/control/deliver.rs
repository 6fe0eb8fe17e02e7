//! Delivers control requests that the run itself carries out to its inbox.

use everstep_inspect::Overview;
use everstep_model::{Body, Record, RunId, RunStatus};
use everstep_store::{Outcome, Refusal};

use super::super::inbox_requests::InboxRequests;
use super::done::{Because, Done, Effect};
use super::run_state::{RunState, unexpected};
use crate::error::ControlError;

impl InboxRequests {
    /// Appends a request to a run's inbox, unless `decide` finds a reason not to. The status in
    /// lists changes in the same commit.
    pub(super) async fn request(
        &self,
        run: &RunId,
        decide: impl Fn(&Overview) -> Result<Body, Because>,
    ) -> Result<Done, ControlError> {
        self.committer.check_open()?;
        loop {
            let state = RunState::read(&self.node, run).await?;
            if state.overview.end.is_some() {
                return Ok(state.nothing(Because::Finished));
            }
            let body = match decide(&state.overview) {
                Ok(body) => body,
                Err(because) => return Ok(state.nothing(because)),
            };
            let mut commit = self.inbox.commit(&state.head);
            let record = Record {
                time: commit.now,
                body,
            };
            let status = state.status_with(&record);
            commit.status = Some(status);
            commit.records.push(record);
            match self.inbox.deliver(run, commit).await? {
                Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
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
        self.workers.executor(workflow, version).is_some()
    }
}
