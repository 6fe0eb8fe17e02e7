//! Converts responses of a server to what an engine returns.

use everstep_engine::{Because, CodedError, Done, Effect, UnreadableJournal};
use everstep_model::{Entry, Generation, Payload, RunId, RunStatus, entry_from_json};
use everstep_protocol::workflow::{ControlAnswer, EffectWord, RunSummary, RunView};
use everstep_store::RunRow;

use crate::client::{ServerError, WaitError};

pub(super) fn done(answer: ControlAnswer) -> Done {
    let nothing = Effect::Nothing;
    Done {
        run: answer.id,
        generation: Generation(answer.generation),
        status: answer.status,
        effect: match answer.effect {
            EffectWord::Done => Effect::Done,
            EffectWord::NeedsWorker => Effect::NeedsWorker,
            EffectWord::Deleted => Effect::Deleted,
            EffectWord::Finished => nothing(Because::Finished),
            EffectWord::Paused => nothing(Because::Paused),
            EffectWord::NotPaused => nothing(Because::NotPaused),
            EffectWord::Ending => nothing(Because::Ending),
            EffectWord::NotFailed => nothing(Because::NotFailed),
            EffectWord::RollbackDidNotFail => nothing(Because::RollbackDidNotFail),
        },
    }
}

/// Converts a run of a list, or the part of a single run that lists have.
pub(super) fn row(run: RunSummary) -> RunRow {
    RunRow {
        id: run.id,
        generation: Generation(run.generation),
        workflow: run.workflow,
        version: run.version,
        status: run.status,
        tags: run.tags,
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

/// Returns the result of a run, or `None` if the run has not ended.
pub(super) fn result(run: RunView) -> Option<Result<Payload, WaitError>> {
    Some(Err(match (run.status, run.error) {
        (RunStatus::Completed, _) => return Some(Ok(run.result.unwrap_or_else(Payload::null))),
        (RunStatus::Failed, Some(error)) => WaitError::Failed(error),
        (RunStatus::Cancelled, _) => WaitError::Cancelled(run.reason),
        (RunStatus::Terminated, _) => WaitError::Terminated(run.reason),
        (RunStatus::RollbackFailed, Some(error)) => WaitError::RollbackFailed {
            rollback_error: run.rollback_error.unwrap_or_else(|| error.clone()),
            error,
        },
        _ => return None,
    }))
}

/// Parses a journal with one record per line.
pub(super) fn journal(run: &RunId, lines: &[u8]) -> Result<Vec<Entry>, ServerError> {
    let broken = |error: &dyn std::fmt::Display| {
        let (run, detail) = (run.clone(), error.to_string());
        let error = UnreadableJournal { run, detail };
        ServerError {
            code: error.code(),
            message: error.to_string(),
        }
    };
    let text = std::str::from_utf8(lines).map_err(|error| broken(&error))?;
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| entry_from_json(line).map_err(|error| broken(&error)))
        .collect()
}
