//! What a server says is wrong, as the errors that the engine itself gives.

use crate::engine_error::EngineError;
use everstep_model::{ErrorCode, RunId};
use everstep_protocol::Problem;
use everstep_protocol::client::CallError;

/// Why a call had no answer.
pub(super) fn of_call(error: CallError) -> EngineError {
    match error {
        CallError::Problem(problem) => of_problem(problem),
        error => EngineError::Remote {
            code: ErrorCode::ServerUnreachable,
            message: error.to_string(),
        },
    }
}

/// What a server refuses, and why.
pub(super) fn of_problem(problem: Problem) -> EngineError {
    let code = problem.error_code();
    match code {
        Some(ErrorCode::ShuttingDown) => EngineError::ShuttingDown,
        Some(ErrorCode::InvalidOptions) => EngineError::Options(problem.detail),
        code => EngineError::Remote {
            code: code.unwrap_or(ErrorCode::InvalidRequest),
            message: problem.detail,
        },
    }
}

/// The same, where it was about one run: what is said of it can be said as the engine says it.
pub(super) fn about(run: &RunId, error: EngineError) -> EngineError {
    match error {
        EngineError::Remote {
            code: ErrorCode::UnknownRun,
            ..
        } => EngineError::UnknownRun(run.clone()),
        error => error,
    }
}
