//! What a run is doing, as far as one record tells.
//!
//! A run that has begun and is not over is `running` here, whatever it waits for: several branches may wait for several
//! things, and which of them hold the run no single record knows. PROTOCOL.md says how a client comes to know it (5.7).

use everstep_model::record::TimerPurpose;
use everstep_model::{Body, RunStatus};

/// What the run is doing from this record on; none if the record does not say.
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
        // What the code calls, it calls because the run is executed.
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
