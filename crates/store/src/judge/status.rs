//! The status of a run.

use std::sync::Arc;

use everstep_model::{RunStatus, Timestamp};

use crate::commit::DeliverCommit;
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

/// Returns the status of a run that no node holds after a delivery marked it as ready: `queued`
/// instead of what it rested on, until a node claims it.
#[must_use]
pub fn status_once_woken(status: RunStatus) -> RunStatus {
    match status {
        RunStatus::Sleeping | RunStatus::Waiting | RunStatus::Retrying => RunStatus::Queued,
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Pausing
        | RunStatus::Paused
        | RunStatus::Cancelling
        | RunStatus::RollingBack
        | RunStatus::Diverged
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::RollbackFailed
        | RunStatus::Cancelled
        | RunStatus::Terminated => status,
    }
}

/// Sets the status that the commit names, or the one that a claim implies.
pub(super) fn change_status(
    after: &mut Head,
    named: Option<RunStatus>,
    taken: bool,
    now: Timestamp,
) {
    let Some(run) = &after.run else { return };
    let once_taken = taken.then(|| status_once_taken(run.status));
    set_status(after, named.or(once_taken), now);
}

/// Sets the status after a delivery. `woken` states whether it marked the run as ready.
pub(super) fn change_status_by_delivery(
    after: &mut Head,
    commit: &DeliverCommit,
    taken: bool,
    woken: bool,
) {
    let Some(run) = &after.run else { return };
    let is_held = after.owner.is_some();
    let status = match commit.status {
        // A run that a node holds is not queued.
        Some(RunStatus::Queued) if is_held => Some(RunStatus::Running),
        Some(named) => Some(named),
        None if taken => Some(status_once_taken(run.status)),
        None if woken && !is_held => Some(status_once_woken(run.status)),
        None => None,
    };
    set_status(after, status, commit.now);
}

fn set_status(after: &mut Head, status: Option<RunStatus>, now: Timestamp) {
    if let Some(run) = &mut after.run
        && let Some(status) = status
        && status != run.status
    {
        let run = Arc::make_mut(run);
        run.status = status;
        run.updated_at = now;
    }
}
