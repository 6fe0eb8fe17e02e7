//! Pauses and resumes runs. A paused run starts nothing new: steps in flight finish, and timers
//! fire into the journal, where the run sees them after it is resumed.

use everstep_model::RunId;
use everstep_model::record::{PauseRequested, ResumeRequested};

use super::controller::Controller;
use super::done::{Because, Done, RequestOrigin};
use crate::error::ControlError;

impl Controller {
    pub(super) async fn pause(
        &self,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.pause {
            Some(_) => Err(Because::Paused),
            None => Ok(PauseRequested {
                by: origin.by.clone(),
                reason: origin.reason.clone(),
            }
            .into()),
        })
        .await
    }

    /// Resumes a run that is paused or pausing.
    pub(super) async fn resume(
        &self,
        run: &RunId,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.pause {
            None => Err(Because::NotPaused),
            Some(_) => Ok(ResumeRequested {
                by: origin.by.clone(),
            }
            .into()),
        })
        .await
    }
}
