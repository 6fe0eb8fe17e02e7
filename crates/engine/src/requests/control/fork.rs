//! Forks runs: starts another run from a point of this one, which is not affected.

use everstep_machine::ForkExtent;
use everstep_model::record::ForkReason;
use everstep_model::{Generation, Location, Payload, RunId, RunStatus};
use everstep_store::Refusal;

use super::super::start::random_run_id;
use super::controller::Controller;
use super::copy::{Copied, effect_of};
use super::done::{Done, Effect, RequestOrigin};
use super::run_state::{RunState, unexpected};
use crate::error::{ControlError, InvalidOptions, OtherFork};

/// A request to fork a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkRun {
    /// The run to fork.
    pub run: RunId,
    /// The id of the new run. `None` generates a random one.
    pub id: Option<RunId>,
    /// The operation before which the new run begins. `None` means the current end of the run.
    pub at: Option<Location>,
    /// The result that this step has in the new run.
    pub edited: Option<Payload>,
}

impl Controller {
    /// Forks a run. Repeating the same fork (generation, location and edited result) returns the
    /// same new run.
    pub(super) async fn fork(
        &self,
        wanted: ForkRun,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.parts.committer.check_open()?;
        if let Some(result) = &wanted.edited {
            result.check_size()?;
        }
        let id = match wanted.id {
            Some(id) => id,
            None => random_run_id(&self.parts.node)?,
        };
        let state = RunState::read(&self.parts.node, &wanted.run).await?;
        let extent = match (wanted.at, wanted.edited) {
            (Some(at), edited) => ForkExtent::Before { at, edited },
            (None, None) => ForkExtent::End,
            (None, Some(_)) => {
                let detail = "an edited result needs the location of its step".to_owned();
                return Err(InvalidOptions(detail).into());
            }
        };
        let target = (id.clone(), Generation::FIRST);
        let records = self.copy_of(&state, extent, ForkReason::Fork, target.clone(), &origin);
        let records = records.await?;
        let done = |status: RunStatus, effect| Done {
            run: id.clone(),
            generation: Generation::FIRST,
            status,
            effect,
        };
        match self.create_copy(&state, target, records, false).await? {
            Copied::Created(status) => Ok(done(status, effect_of(status))),
            Copied::Refused { is_same: true, .. } => {
                let (_, row) = self.parts.node.find(&id).await?;
                Ok(done(row.status, Effect::Done))
            }
            Copied::Refused {
                refusal: Refusal::Exists(_),
                ..
            } => Err(OtherFork(id).into()),
            Copied::Refused { refusal, .. } => Err(unexpected(&wanted.run, &refusal)),
        }
    }
}
