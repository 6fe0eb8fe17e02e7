//! From what servers answer to what engines give.

use everstep_engine::{Because, CodedError, Done, Effect, UnreadableJournal};

use everstep_model::{Entry, Generation, RunId, RunStatus, entry_from_json};
use everstep_protocol::workflow::{ControlAnswer, EffectWord, RunSummary, RunView};
use everstep_store::RunRow;

use crate::client::{End, ServerError};

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

pub(super) fn row_of_summary(run: RunSummary) -> RunRow {
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

pub(super) fn row(run: &RunView) -> RunRow {
    RunRow {
        id: run.id.clone(),
        generation: Generation(run.generation),
        workflow: run.workflow.clone(),
        version: run.version,
        status: run.status,
        tags: run.tags.clone(),
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

/// How a run ended; none if it has not.
pub(super) fn end(run: RunView) -> Option<End> {
    match (run.status, run.error) {
        (RunStatus::Completed, _) => {
            let result = run.result.unwrap_or_else(everstep_model::Payload::null);
            Some(End::Completed(result))
        }
        (RunStatus::Failed, Some(error)) => Some(End::Failed(error)),
        (RunStatus::Cancelled, _) => Some(End::Cancelled(run.reason)),
        (RunStatus::Terminated, _) => Some(End::Terminated(run.reason)),
        (RunStatus::RollbackFailed, Some(error)) => Some(End::RollbackFailed {
            rollback_error: run.rollback_error.unwrap_or_else(|| error.clone()),
            error,
        }),
        _ => None,
    }
}

/// A journal as lines.
pub(super) fn journal(run: &RunId, lines: &[u8]) -> Result<Vec<Entry>, ServerError> {
    let broken = |detail: String| {
        let run = run.clone();
        let error = UnreadableJournal { run, detail };
        ServerError {
            code: error.code(),
            message: error.to_string(),
        }
    };
    let text = std::str::from_utf8(lines).map_err(|error| broken(error.to_string()))?;
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| entry_from_json(line).map_err(|error| broken(error.to_string())))
        .collect()
}
