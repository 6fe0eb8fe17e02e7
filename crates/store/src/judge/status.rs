//! The status of a run.

use std::sync::Arc;

use everstep_model::{RunStatus, Timestamp};

use crate::head::Head;

/// Returns the status of a run after it was claimed: `running`, unless it is pausing, paused,
/// cancelling or rolling back, which the claiming node continues.
#[must_use]
pub fn status_once_taken(status: RunStatus) -> RunStatus {
    match status {
        RunStatus::Pausing | RunStatus::Paused | RunStatus::Cancelling | RunStatus::RollingBack => {
            status
        }
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Sleeping
        | RunStatus::Waiting
        | RunStatus::Retrying
        | RunStatus::Diverged
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => RunStatus::Running,
    }
}

/// Sets the status that the commit names, or the one that a claim implies.
pub(super) fn change_status(
    after: &mut Head,
    named: Option<RunStatus>,
    taken: bool,
    now: Timestamp,
) {
    let Some(run) = &mut after.run else { return };
    let once_taken = taken.then(|| status_once_taken(run.status));
    if let Some(status) = named.or(once_taken)
        && status != run.status
    {
        let run = Arc::make_mut(run);
        run.status = status;
        run.updated_at = now;
    }
}
