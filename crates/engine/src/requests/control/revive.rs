//! Revives runs. A terminal status is final, so the run continues as a new generation whose journal
//! begins as a copy.

use everstep_machine::ForkExtent;
use everstep_model::record::ForkReason;
use everstep_model::{Location, Payload, Record, RunId, RunStatus};

use super::controller::Controller;
use super::copy::{Copied, effect_of};
use super::done::{Because, Done, Effect, RequestOrigin};
use super::run_state::RunState;
use crate::error::ControlError;

/// A way to revive a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Revival {
    /// Restarts the run from its beginning. A run in progress is terminated first.
    Restart,
    /// Restarts the run from one of its operations. A run in progress is terminated first.
    RestartFrom {
        /// The operation. A location inside a loop means the whole loop.
        at: Location,
        /// The result that this step has in the new generation.
        edited: Option<Payload>,
    },
    /// Continues the run where it failed or was ended.
    Recover,
    /// Retries a failed rollback.
    RetryRollback,
}

impl Revival {
    fn reason(&self) -> ForkReason {
        match self {
            Self::Restart | Self::RestartFrom { .. } => ForkReason::Restart,
            Self::Recover => ForkReason::Recover,
            Self::RetryRollback => ForkReason::RetryRollback,
        }
    }

    /// Returns why the revival does not apply to a run with this status.
    fn does_not_apply(&self, status: RunStatus) -> Option<Because> {
        let ended_badly = matches!(
            status,
            RunStatus::Failed
                | RunStatus::RollbackFailed
                | RunStatus::Cancelled
                | RunStatus::Terminated
        );
        match self {
            Self::Restart | Self::RestartFrom { .. } => None,
            Self::Recover => (!ended_badly).then_some(Because::NotFailed),
            Self::RetryRollback => {
                (status != RunStatus::RollbackFailed).then_some(Because::RollbackDidNotFail)
            }
        }
    }
}

impl Controller {
    /// Revives a run as a new generation.
    pub(super) async fn revive(
        &self,
        run: &RunId,
        revival: Revival,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        if let Revival::RestartFrom {
            edited: Some(result),
            ..
        } = &revival
        {
            result.check_size()?;
        }
        loop {
            let state = RunState::read(&self.parts.node, run).await?;
            if let Some(because) = revival.does_not_apply(state.overview.status()) {
                return Ok(state.nothing(because));
            }
            let records = self.plan(&state, &revival, &origin).await?;
            if state.overview.end.is_none() {
                let origin = origin.or_reason("restarted");
                let (stream, next) = (state.head.number, state.row.generation.next());
                let terminated = self.parts.terminate_before(run, stream, origin, Some(next));
                terminated.await?;
                continue;
            }
            let target = (run.clone(), state.row.generation.next());
            let copied = self.create_copy(&state, target, records, true);
            match copied.await? {
                Copied::Created(status) => {
                    return Ok(Done {
                        generation: state.row.generation.next(),
                        ..Done::of(&state.row, status, effect_of(status))
                    });
                }
                // The request is repeated, or the run was revived or deleted concurrently.
                Copied::Refused { is_same: true, .. } => {
                    let (_, row) = self.parts.node.find(run).await?;
                    return Ok(Done::of(&row, row.status, Effect::Done));
                }
                Copied::Refused { is_same: false, .. } => {}
            }
        }
    }

    async fn plan(
        &self,
        state: &RunState,
        revival: &Revival,
        origin: &RequestOrigin,
    ) -> Result<Vec<Record>, ControlError> {
        let row = &state.row;
        let extent = match revival {
            Revival::Restart => {
                ForkExtent::Beginning(self.parts.workers.newest_version(&row.workflow))
            }
            Revival::RestartFrom { at, edited } => ForkExtent::Before {
                at: at.clone(),
                edited: edited.clone(),
            },
            Revival::Recover => ForkExtent::Recovered,
            Revival::RetryRollback => ForkExtent::RollbackRetried,
        };
        let target = (row.id.clone(), row.generation.next());
        let reason = revival.reason();
        self.copy_of(state, extent, reason, target, origin).await
    }
}
