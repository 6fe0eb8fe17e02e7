//! Pausing and resuming. A pause gates new starts: steps in flight finish, timers fire into the journal, and the run sees
//! them when it is resumed.

use std::sync::Arc;

use everstep_model::RunId;
use everstep_model::record::{PauseRequested, ResumeRequested};

use super::{Asked, Because, Done};
use crate::core::Core;
use crate::error::ControlError;

impl Core {
    /// Asks a run to pause.
    pub(crate) async fn pause(
        self: &Arc<Self>,
        run: &RunId,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.pause {
            Some(_) => Err(Because::Paused),
            None => Ok(PauseRequested {
                by: asked.by.clone(),
                reason: asked.reason.clone(),
            }
            .into()),
        })
        .await
    }

    /// Lets a run go on that is paused, or about to be.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        run: &RunId,
        asked: Asked,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.pause {
            None => Err(Because::NotPaused),
            Some(_) => Ok(ResumeRequested {
                by: asked.by.clone(),
            }
            .into()),
        })
        .await
    }
}
