//! The status of a run as far as a single record determines it.
//!
//! A run that has begun and not ended is `running` here, whatever it waits for: several branches may
//! wait for different things, and no single record determines which of them block the run. See
//! PROTOCOL.md 5.7 for how a client finds out.

use everstep_model::record::TimerPurpose;
use everstep_model::{Body, RunStatus};

/// Returns the status of the run from this record on. `None` if the record does not determine it.
pub(super) fn status(body: &Body) -> Option<RunStatus> {
    if let Some(end) = body.terminal() {
        return Some(end);
    }
    match body {
        Body::Created(_) => Some(RunStatus::Queued),
        Body::PauseRequested(_) => Some(RunStatus::Pausing),
        Body::Paused(_) => Some(RunStatus::Paused),
        Body::CancelRequested(_) => Some(RunStatus::Cancelling),
        Body::Diverged(_) => Some(RunStatus::Diverged),
        Body::ExecutionRetried(_) => Some(RunStatus::Retrying),
        Body::UndoStarted(_)
        | Body::UndoCompleted(_)
        | Body::UndoFailed(_)
        | Body::UndoSkipped(_) => Some(RunStatus::RollingBack),
        Body::TimerFired(timer) if timer.purpose == TimerPurpose::ExecutionRetry => {
            Some(RunStatus::Running)
        }
        Body::ForcedFailure(forced) if forced.location.is_none() => Some(RunStatus::Running),
        Body::ResumeRequested(_) | Body::Resumed(_) | Body::DeadlinePassed(_) => {
            Some(RunStatus::Running)
        }
        // The code makes these calls only while the run is executed.
        Body::StepStarted(_)
        | Body::Sleeping(_)
        | Body::Waiting(_)
        | Body::RpcRequested(_)
        | Body::ChildStarted(_)
        | Body::BranchesStarted(_)
        | Body::SwitchChosen(_)
        | Body::LoopAdvanced(_)
        | Body::VersionChosen(_) => Some(RunStatus::Running),
        _ => None,
    }
}
