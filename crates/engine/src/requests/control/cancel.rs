//! Cancels runs. From then on the operations of the run fail, steps in flight end first, and
//! completed steps are undone if requested.

use everstep_model::RunId;
use everstep_model::record::CancelRequested;

use super::controller::Controller;
use super::done::{Because, Done, RequestOrigin};
use crate::error::ControlError;

impl Controller {
    /// Requests the cancellation of a run. The first request and its reason count.
    pub(super) async fn cancel(
        &self,
        run: &RunId,
        rollback: bool,
        origin: RequestOrigin,
    ) -> Result<Done, ControlError> {
        self.request(run, |overview| match overview.ending {
            Some(_) => Err(Because::Ending),
            None => Ok(CancelRequested {
                by: origin.by.clone(),
                reason: origin.reason.clone(),
                rollback,
            }
            .into()),
        })
        .await
    }
}
