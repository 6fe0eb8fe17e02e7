//! Errors of requests to a server.

use everstep_model::ErrorCode;

use super::transport::TransportError;
use crate::problem::Problem;

/// A request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server rejected the request or failed, and explains why.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// There was no response.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The response did not come from an Everstep server.
    #[error("{address} is not an Everstep server ({detail}); check the URL")]
    #[allow(missing_docs, reason = "plain data")]
    UnexpectedResponse {
        address: String,
        detail: String,
        status: Option<u16>,
    },
    /// The body could not be encoded as JSON.
    #[error("the request cannot be encoded as JSON: {0}")]
    Unserializable(String),
}

impl CallError {
    /// Returns the error code, if the server sent one that this version knows.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Problem(problem) => problem.error_code(),
            Self::Transport(_) | Self::UnexpectedResponse { .. } | Self::Unserializable(_) => None,
        }
    }

    /// Returns the status of the response, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) => Some(problem.status),
            Self::UnexpectedResponse { status, .. } => *status,
            Self::Transport(_) | Self::Unserializable(_) => None,
        }
    }

    /// Whether the same request may succeed later, as far as the response shows.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        // A proxy that cannot reach the server responds with these statuses, without problem
        // details.
        match self {
            Self::Transport(_) => true,
            error => matches!(error.status(), Some(408 | 429 | 502 | 503 | 504)),
        }
    }
}
