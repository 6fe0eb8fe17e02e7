//! Forking: another run that begins where this one was, beside it, and leaves it alone.

use std::sync::Arc;

use everstep_machine::ForkExtent;
use everstep_model::record::ForkReason;
use everstep_model::{Generation, Location, Payload, RunId, RunStatus};
use everstep_store::Refusal;

use super::revive::{Copied, effect_of};
use super::{Asked, Done, Effect};
use crate::core::Core;
use crate::error::{ControlError, InvalidOptions, OtherFork};

/// What to fork.
#[derive(Clone, Debug, PartialEq)]
pub struct ForkRun {
    /// The run to begin like.
    pub run: RunId,
    /// The id of the new run; a random one if none is given.
    pub id: Option<RunId>,
    /// The operation before which the new run begins; where the run is now if none is given.
    pub at: Option<Location>,
    /// The result that operation is taken to have had, for a step.
    pub edited: Option<Payload>,
}

impl Core {
    /// Forks a run into another. The same fork asked for again gives the run it led to: the same life of the same run, up to
    /// the same place, with the same edited result.
    pub(crate) async fn fork_run(
        self: &Arc<Self>,
        wanted: ForkRun,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.check_open()?;
        if let Some(result) = &wanted.edited {
            result.check_size()?;
        }
        let id = match wanted.id {
            Some(id) => id,
            None => self.random_id()?,
        };
        let sight = self.sight(&wanted.run).await?;
        let extent = match (wanted.at, wanted.edited) {
            (Some(at), edited) => ForkExtent::Before { at, edited },
            (None, None) => ForkExtent::End,
            (None, Some(_)) => {
                let detail = "an edited result needs the step it belongs to".to_owned();
                return Err(InvalidOptions(detail).into());
            }
        };
        let target = (id.clone(), Generation::FIRST);
        let records = self.copy_of(&sight, extent, ForkReason::Fork, target.clone(), &asked)?;
        let done = |status: RunStatus, effect| Done {
            run: id.clone(),
            generation: Generation::FIRST,
            status,
            effect,
        };
        match self.create_copy(&sight, target, records, false).await? {
            Copied::Created(status) => Ok(done(status, effect_of(status))),
            Copied::Refused { is_same: true, .. } => {
                let (_, row) = self.find(&id).await?;
                Ok(done(row.status, Effect::Done))
            }
            Copied::Refused {
                refusal: Refusal::Exists(_),
                ..
            } => Err(OtherFork(id).into()),
            Copied::Refused { refusal, .. } => Err(self.refused(&wanted.run, &refusal)),
        }
    }
}
