//! Converts errors of calls to a server.

use everstep_model::ErrorCode;
use everstep_protocol::Problem;
use everstep_protocol::client::CallError;

use crate::client::ServerError;

pub(super) fn of_call(error: CallError) -> ServerError {
    match error {
        CallError::Problem(problem) => of_problem(problem),
        error => ServerError {
            code: ErrorCode::ServerUnreachable,
            message: error.to_string(),
        },
    }
}

pub(super) fn of_problem(problem: Problem) -> ServerError {
    ServerError {
        code: problem.error_code().unwrap_or(ErrorCode::InvalidRequest),
        message: problem.detail,
    }
}
