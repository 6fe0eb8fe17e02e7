//! What a record gives account of, as data: who, how it came out, which attempt, what went wrong, and with what payload.

use everstep_model::record::{
    ChildOutcome, FailureOutcome, RpcCompleted, StepFailed, TimerPurpose,
};
use everstep_model::{Body, Failure, Payload};

use super::Outcome;

/// The parts of a line that stand in its record alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account<'a> {
    pub(super) by: Option<&'a str>,
    pub(super) outcome: Option<Outcome>,
    pub(super) attempt: Option<u32>,
    pub(super) error: Option<&'a Failure>,
    pub(super) payload: Option<&'a Payload>,
}

impl<'a> Account<'a> {
    fn by(self, by: &'a Option<String>) -> Self {
        let by = by.as_deref();
        Self { by, ..self }
    }

    fn ends(self, outcome: Outcome) -> Self {
        let outcome = Some(outcome);
        Self { outcome, ..self }
    }

    fn attempt(self, attempt: u32) -> Self {
        let attempt = Some(attempt);
        Self { attempt, ..self }
    }

    fn error(self, error: &'a Failure) -> Self {
        let error = Some(error);
        Self { error, ..self }
    }

    fn shows(self, payload: &'a Payload) -> Self {
        let payload = Some(payload);
        Self { payload, ..self }
    }
}

/// What the record says. Payloads of sensitive steps are among it; whoever shows it must leave them out.
pub(super) fn of(body: &Body) -> Account<'_> {
    let account = Account::default();
    match body {
        Body::Created(r) => account.shows(&r.input),
        Body::Event(r) => account.by(&r.by).shows(&r.payload),
        Body::RpcAnswered(r) => account.by(&r.by).shows(&r.answer),
        Body::TimerFired(r) if r.purpose == TimerPurpose::Sleep => account.ends(Outcome::Ok),
        Body::ChildFinished(r) => of_child(&r.outcome),
        Body::PauseRequested(r) => account.by(&r.by),
        Body::ResumeRequested(r) => account.by(&r.by),
        Body::CancelRequested(r) => account.by(&r.by),
        Body::Terminated(r) => account.by(&r.by).ends(Outcome::Terminated),
        Body::StepSkipped(r) => account.by(&r.by).ends(Outcome::Skipped).shows(&r.result),
        Body::StepEdited(r) => account.by(&r.by).ends(Outcome::Ok).shows(&r.result),
        Body::ForcedFailure(r) => account.by(&r.by).ends(Outcome::Failed).error(&r.error),
        Body::DeadlinePassed(_) => account.ends(Outcome::TimedOut),
        Body::StepStarted(r) => account.attempt(r.attempt),
        Body::StepCompleted(r) => account
            .ends(Outcome::Ok)
            .attempt(r.attempt)
            .shows(&r.result),
        Body::StepFailed(r) => of_failed_attempt(r),
        Body::StepAbandoned(_) => account.ends(Outcome::Abandoned),
        Body::WaitCompleted(_) => account.ends(Outcome::Ok),
        Body::WaitTimedOut(_) => account.ends(Outcome::TimedOut),
        Body::RpcRequested(r) => account.shows(&r.args),
        Body::RpcCompleted(r) => of_question(r),
        Body::BranchCompleted(_) | Body::RaceWon(_) => account.ends(Outcome::Ok),
        Body::BranchFailed(r) => account.ends(Outcome::Failed).error(&r.error),
        Body::LoopAdvanced(r) => account.ends(Outcome::Ok).shows(&r.state),
        Body::ChildStarted(r) => account.shows(&r.input),
        Body::Sent(r) => account.shows(&r.payload),
        Body::Replied(r) => account.shows(&r.payload),
        Body::StateChanged(r) => account.shows(&r.value),
        Body::Emitted(r) => account.shows(&r.payload),
        Body::UndoStarted(r) => account.attempt(r.attempt),
        Body::UndoCompleted(r) => account.ends(Outcome::Undone).attempt(r.attempt),
        Body::UndoFailed(r) => {
            let outcome = r.retry_at.map_or(Outcome::Failed, |_| Outcome::Retrying);
            account.ends(outcome).attempt(r.attempt).error(&r.error)
        }
        Body::UndoSkipped(_) => account.ends(Outcome::Skipped),
        Body::Paused(r) => Account {
            error: r.reason.as_ref(),
            ..account
        },
        Body::Diverged(r) => account.error(&r.error),
        Body::ExecutionRetried(r) => account
            .ends(Outcome::Retrying)
            .attempt(r.attempt)
            .error(&r.error),
        Body::Completed(r) => account.ends(Outcome::Ok).shows(&r.result),
        Body::Failed(r) => account.ends(Outcome::Failed).error(&r.error),
        Body::RollbackFailed(r) => account.ends(Outcome::Failed).error(&r.error),
        Body::Cancelled(_) => account.ends(Outcome::Cancelled),
        _ => account,
    }
}

fn of_child(outcome: &ChildOutcome) -> Account<'_> {
    let account = Account::default();
    match outcome {
        ChildOutcome::Completed(result) => account.ends(Outcome::Ok).shows(result),
        ChildOutcome::Failed(error) => account.ends(Outcome::Failed).error(error),
        ChildOutcome::Cancelled(error) => account.ends(Outcome::Cancelled).error(error),
    }
}

fn of_failed_attempt(record: &StepFailed) -> Account<'_> {
    let outcome = match record.outcome {
        FailureOutcome::Retrying => Outcome::Retrying,
        FailureOutcome::Exhausted | FailureOutcome::Fatal | FailureOutcome::RollBack => {
            Outcome::Failed
        }
        FailureOutcome::TimedOut => Outcome::TimedOut,
        FailureOutcome::Cancelled => Outcome::Cancelled,
    };
    Account::default()
        .ends(outcome)
        .attempt(record.attempt)
        .error(&record.error)
}

fn of_question(record: &RpcCompleted) -> Account<'_> {
    Account::default().ends(if record.timed_out {
        Outcome::TimedOut
    } else {
        Outcome::Ok
    })
}
