//! Converts errors of a server to [`EngineError`].

use crate::client::EngineError;
use everstep_model::{ErrorCode, RunId};
use everstep_protocol::Problem;
use everstep_protocol::client::CallError;

/// Converts the error of a call.
pub(super) fn of_call(error: CallError) -> EngineError {
    match error {
        CallError::Problem(problem) => of_problem(problem),
        error => EngineError::Remote {
            code: ErrorCode::ServerUnreachable,
            message: error.to_string(),
        },
    }
}

/// Converts an error response of a server.
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

/// Converts the error of a request about one run, which allows more specific variants.
pub(super) fn about(run: &RunId, error: EngineError) -> EngineError {
    match error {
        EngineError::Remote {
            code: ErrorCode::UnknownRun,
            ..
        } => EngineError::UnknownRun(run.clone()),
        error => error,
    }
}
