//! Records as plain sentences, on one line each and without payloads.
//!
//! Each kind of record tells its own; they are grouped by theme. The parts of a sentence that may be missing are in
//! `phrase.rs`.

mod life;
mod messages;
mod paths;
mod phrase;
mod requests;
mod steps;
mod waits;

use everstep_model::{Body, Record};

use super::spans::Lasted;

/// What the record says. Text that people gave may hold anything; here it cannot break the line.
pub(super) fn of(record: &Record, lasted: Lasted) -> String {
    let sentence = tell(&record.body, lasted);
    sentence.replace(char::is_control, " ")
}

/// A record that can be told.
trait Tell {
    fn tell(&self, lasted: Lasted) -> String;
}

fn tell(body: &Body, lasted: Lasted) -> String {
    match body {
        Body::Created(record) => record.tell(lasted),
        Body::Event(record) => record.tell(lasted),
        Body::RpcAnswered(record) => record.tell(lasted),
        Body::TimerFired(record) => record.tell(lasted),
        Body::ChildFinished(record) => record.tell(lasted),
        Body::PauseRequested(record) => record.tell(lasted),
        Body::ResumeRequested(record) => record.tell(lasted),
        Body::CancelRequested(record) => record.tell(lasted),
        Body::Terminated(record) => record.tell(lasted),
        Body::StepSkipped(record) => record.tell(lasted),
        Body::StepEdited(record) => record.tell(lasted),
        Body::ForcedFailure(record) => record.tell(lasted),
        Body::DeadlinePassed(record) => record.tell(lasted),
        Body::Data(record) => format!("Message of {} bytes", record.bytes.len()),
        Body::StepStarted(record) => record.tell(lasted),
        Body::StepCompleted(record) => record.tell(lasted),
        Body::StepFailed(record) => record.tell(lasted),
        Body::StepAbandoned(record) => record.tell(lasted),
        Body::Sleeping(record) => record.tell(lasted),
        Body::Waiting(record) => record.tell(lasted),
        Body::WaitCompleted(record) => record.tell(lasted),
        Body::WaitTimedOut(record) => record.tell(lasted),
        Body::RpcRequested(record) => record.tell(lasted),
        Body::RpcCompleted(record) => record.tell(lasted),
        Body::BranchesStarted(record) => record.tell(lasted),
        Body::BranchCompleted(record) => record.tell(lasted),
        Body::BranchFailed(record) => record.tell(lasted),
        Body::RaceWon(record) => record.tell(lasted),
        Body::LoopAdvanced(record) => record.tell(lasted),
        Body::SwitchChosen(record) => record.tell(lasted),
        Body::ChildStarted(record) => record.tell(lasted),
        Body::Sent(record) => record.tell(lasted),
        Body::Replied(record) => record.tell(lasted),
        Body::StateChanged(record) => record.tell(lasted),
        Body::Emitted(record) => record.tell(lasted),
        Body::Note(record) => record.tell(lasted),
        Body::VersionChosen(record) => record.tell(lasted),
        Body::Removed(record) => record.tell(lasted),
        Body::NoReturn(record) => record.tell(lasted),
        Body::UndoStarted(record) => record.tell(lasted),
        Body::UndoCompleted(record) => record.tell(lasted),
        Body::UndoFailed(record) => record.tell(lasted),
        Body::UndoSkipped(record) => record.tell(lasted),
        Body::Paused(record) => record.tell(lasted),
        Body::Resumed(record) => record.tell(lasted),
        Body::Diverged(record) => record.tell(lasted),
        Body::ExecutionRetried(record) => record.tell(lasted),
        Body::Completed(record) => record.tell(lasted),
        Body::Failed(record) => record.tell(lasted),
        Body::RollbackFailed(record) => record.tell(lasted),
        Body::Cancelled(record) => record.tell(lasted),
    }
}
