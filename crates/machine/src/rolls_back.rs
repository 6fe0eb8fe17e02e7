//! Whether a run is rolling back, as its records alone say: both folds ask, and must agree on it.

use everstep_model::Body;

/// Whether a rollback goes on after this record, if one did or did not before it. Code that goes forward has come out of a
/// rollback that it asked for itself; what comes in from outside, or ends what was under way, says nothing about it.
pub(crate) fn rolls_back_after(body: &Body, before: bool) -> bool {
    match body {
        Body::UndoStarted(_)
        | Body::UndoCompleted(_)
        | Body::UndoFailed(_)
        | Body::UndoSkipped(_) => true,
        Body::StepStarted(_)
        | Body::Sleeping(_)
        | Body::Waiting(_)
        | Body::RpcRequested(_)
        | Body::BranchesStarted(_)
        | Body::BranchCompleted(_)
        | Body::BranchFailed(_)
        | Body::RaceWon(_)
        | Body::LoopAdvanced(_)
        | Body::SwitchChosen(_)
        | Body::ChildStarted(_)
        | Body::Sent(_)
        | Body::Replied(_)
        | Body::StateChanged(_)
        | Body::Emitted(_)
        | Body::Note(_)
        | Body::VersionChosen(_)
        | Body::Removed(_)
        | Body::NoReturn(_)
        | Body::ExecutionRetried(_)
        | Body::Completed(_)
        | Body::Failed(_)
        | Body::RollbackFailed(_)
        | Body::Cancelled(_)
        | Body::Terminated(_) => false,
        Body::Data(_)
        | Body::Created(_)
        | Body::Event(_)
        | Body::RpcAnswered(_)
        | Body::TimerFired(_)
        | Body::ChildFinished(_)
        | Body::PauseRequested(_)
        | Body::ResumeRequested(_)
        | Body::CancelRequested(_)
        | Body::StepSkipped(_)
        | Body::StepEdited(_)
        | Body::ForcedFailure(_)
        | Body::DeadlinePassed(_)
        | Body::StepCompleted(_)
        | Body::StepFailed(_)
        | Body::StepAbandoned(_)
        | Body::WaitCompleted(_)
        | Body::WaitTimedOut(_)
        | Body::RpcCompleted(_)
        | Body::Paused(_)
        | Body::Resumed(_)
        | Body::Diverged(_) => before,
    }
}
