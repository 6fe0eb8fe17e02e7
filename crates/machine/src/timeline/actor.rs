//! Whose doing a record is.

use everstep_model::Body;

use super::Actor;

/// Who made the record come about. What workflow code calls is the workflow's doing, its undos included; what follows
/// from clocks, from other runs that ended and from requests being carried out is the engine's.
pub(super) fn of(body: &Body) -> Actor {
    match body {
        Body::Created(_)
        | Body::Event(_)
        | Body::Data(_)
        | Body::RpcAnswered(_)
        | Body::PauseRequested(_)
        | Body::ResumeRequested(_)
        | Body::CancelRequested(_)
        | Body::Terminated(_)
        | Body::StepSkipped(_)
        | Body::StepEdited(_)
        | Body::ForcedFailure(_) => Actor::Outside,
        Body::TimerFired(_)
        | Body::ChildFinished(_)
        | Body::DeadlinePassed(_)
        | Body::Paused(_)
        | Body::Resumed(_)
        | Body::Diverged(_)
        | Body::ExecutionRetried(_)
        | Body::UndoSkipped(_)
        | Body::Cancelled(_) => Actor::Engine,
        Body::StepStarted(_)
        | Body::StepCompleted(_)
        | Body::StepFailed(_)
        | Body::StepAbandoned(_)
        | Body::Sleeping(_)
        | Body::Waiting(_)
        | Body::WaitCompleted(_)
        | Body::WaitTimedOut(_)
        | Body::RpcRequested(_)
        | Body::RpcCompleted(_)
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
        | Body::UndoStarted(_)
        | Body::UndoCompleted(_)
        | Body::UndoFailed(_)
        | Body::Completed(_)
        | Body::Failed(_)
        | Body::RollbackFailed(_) => Actor::Workflow,
    }
}
