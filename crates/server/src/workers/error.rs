//! Errors that several requests of workers share.

use axum::http::StatusCode;
use everstep_model::ErrorCode;

use crate::failure::Failure;

/// The session has ended or never existed.
pub(super) fn unknown_session() -> Failure {
    let detail =
        "the session has ended: it sent no requests, or the server restarted; register again";
    Failure::new(StatusCode::NOT_FOUND, detail).coded(ErrorCode::UnknownSession)
}

/// The token was not signed by this process for this session.
pub(super) fn bad_token() -> Failure {
    let detail = "the activation token was not issued to this session";
    Failure::new(StatusCode::FORBIDDEN, detail).coded(ErrorCode::Fenced)
}

/// The session no longer executes the run.
pub(super) fn not_its_run() -> Failure {
    let detail = "the session no longer executes this run";
    Failure::new(StatusCode::CONFLICT, detail).coded(ErrorCode::Fenced)
}
