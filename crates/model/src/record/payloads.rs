//! The values of users that records carry.

use super::{Body, ChildOutcome};
use crate::payload::Payload;

impl Body {
    /// The payloads it carries.
    pub fn payloads(&self) -> impl Iterator<Item = &Payload> {
        self.both_payloads().into_iter().flatten()
    }

    /// No record carries more than two.
    fn both_payloads(&self) -> [Option<&Payload>; 2] {
        match self {
            Self::Created(r) => [Some(&r.input), None],
            Self::Event(r) => [Some(&r.payload), None],
            Self::RpcAnswered(r) => [Some(&r.answer), None],
            Self::ChildFinished(r) => match &r.outcome {
                ChildOutcome::Completed(result) => [Some(result), None],
                ChildOutcome::Failed(_) | ChildOutcome::Cancelled(_) => [None, None],
            },
            Self::StepSkipped(r) => [Some(&r.result), None],
            Self::StepEdited(r) => [Some(&r.result), None],
            Self::StepCompleted(r) => [Some(&r.result), r.undo.as_ref()],
            Self::StepFailed(r) => [r.undo.as_ref(), None],
            Self::RpcRequested(r) => [Some(&r.args), r.schema.as_ref()],
            Self::LoopAdvanced(r) => [Some(&r.state), None],
            Self::ChildStarted(r) => [Some(&r.input), None],
            Self::Sent(r) => [Some(&r.payload), None],
            Self::Replied(r) => [Some(&r.payload), None],
            Self::StateChanged(r) => [Some(&r.value), None],
            Self::Emitted(r) => [Some(&r.payload), None],
            Self::Completed(r) => [Some(&r.result), None],
            Self::TimerFired(_)
            | Self::PauseRequested(_)
            | Self::ResumeRequested(_)
            | Self::CancelRequested(_)
            | Self::Terminated(_)
            | Self::ForcedFailure(_)
            | Self::DeadlinePassed(_)
            | Self::Data(_)
            | Self::StepStarted(_)
            | Self::StepAbandoned(_)
            | Self::Sleeping(_)
            | Self::Waiting(_)
            | Self::WaitCompleted(_)
            | Self::WaitTimedOut(_)
            | Self::RpcCompleted(_)
            | Self::BranchesStarted(_)
            | Self::BranchCompleted(_)
            | Self::BranchFailed(_)
            | Self::RaceWon(_)
            | Self::SwitchChosen(_)
            | Self::Note(_)
            | Self::VersionChosen(_)
            | Self::Removed(_)
            | Self::NoReturn(_)
            | Self::UndoStarted(_)
            | Self::UndoCompleted(_)
            | Self::UndoFailed(_)
            | Self::UndoSkipped(_)
            | Self::Paused(_)
            | Self::Resumed(_)
            | Self::Diverged(_)
            | Self::ExecutionRetried(_)
            | Self::Failed(_)
            | Self::RollbackFailed(_)
            | Self::Cancelled(_) => [None, None],
        }
    }
}
