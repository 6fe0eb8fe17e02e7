//! Cancelling: the run is asked to end in good order. What it is doing is refused from there on, steps in flight end
//! first, and completed steps are undone if that was asked for.

use std::sync::Arc;

use everstep_model::RunId;
use everstep_model::record::CancelRequested;

use super::{Asked, Because, Done};
use crate::core::Core;
use crate::error::ControlError;

impl Core {
    /// Asks a run to end. The first request counts, and so does its reason.
    pub(crate) async fn cancel(
        self: &Arc<Self>,
        run: &RunId,
        rollback: bool,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.ending {
            Some(_) => Err(Because::Ending),
            None => Ok(CancelRequested {
                by: asked.by.clone(),
                reason: asked.reason.clone(),
                rollback,
            }
            .into()),
        })
        .await
    }
}
