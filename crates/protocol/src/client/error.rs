//! What a call can get instead of what it asked for.

use everstep_model::ErrorCode;

use super::transport::TransportError;
use crate::problem::Problem;

/// A call did not get what it asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server refused, or failed, and says why.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// There is no answer.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Somebody answered, but not as an Everstep server does.
    #[error(
        "{address} does not answer as an Everstep server does ({detail}); is the address right?"
    )]
    Strange {
        /// The address that was called.
        address: String,
        /// What it answered.
        detail: String,
    },
    /// The body could not be written as JSON.
    #[error("the request cannot be written as JSON: {0}")]
    Unserializable(String),
}

impl CallError {
    /// The permanent word for it, if the server gave one that this release knows.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Problem(problem) => problem.error_code(),
            Self::Transport(_) | Self::Strange { .. } | Self::Unserializable(_) => None,
        }
    }

    /// The status of the answer, if the server gave one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) => Some(problem.status),
            Self::Transport(_) | Self::Strange { .. } | Self::Unserializable(_) => None,
        }
    }

    /// Whether the same call may go well a little later, as far as the answer tells.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Problem(problem) => matches!(problem.status, 408 | 429 | 502 | 503 | 504),
            Self::Transport(_) => true,
            Self::Strange { .. } | Self::Unserializable(_) => false,
        }
    }
}
