//! How a request travels: a trait, so that tests and simulations need no sockets.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};

/// Carries requests to a server. The address of a request is absolute.
pub trait Transport: Send + Sync + 'static {
    /// Sends one request and gives its answer, whole.
    fn call(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<Bytes>, TransportError>>;
}

/// How long one request may take, where that is not as long as all others: an extension of the request, for calls
/// that are meant to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(pub Duration);

/// There is no answer. The variants say how far the request may have come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Nobody listens there.
    #[error(
        "nothing listens at {address}; start `everstep dev` there, or name another server with --server"
    )]
    Nobody {
        /// Scheme, host and port.
        address: String,
    },
    /// The address leads nowhere.
    #[error("{address} cannot be reached: {detail}")]
    Unreachable {
        /// Scheme, host and port.
        address: String,
        /// What the system says.
        detail: String,
    },
    /// Both sides could not agree on a secure connection.
    #[error("no secure connection to {address}: {detail}")]
    Insecure {
        /// Scheme, host and port.
        address: String,
        /// What is wrong, and what may help.
        detail: String,
    },
    /// It took too long. The server may have acted on the request.
    #[error("{address} did not answer within {patience:?}")]
    TimedOut {
        /// Scheme, host and port.
        address: String,
        /// How long was waited.
        patience: Duration,
    },
    /// The connection broke. The server may have acted on the request.
    #[error("the connection to {address} broke: {detail}")]
    Broken {
        /// Scheme, host and port.
        address: String,
        /// What is known of it.
        detail: String,
    },
}

impl TransportError {
    /// Whether the request certainly did not reach the server.
    #[must_use]
    pub fn never_arrived(&self) -> bool {
        match self {
            Self::Nobody { .. } | Self::Unreachable { .. } | Self::Insecure { .. } => true,
            Self::TimedOut { .. } | Self::Broken { .. } => false,
        }
    }
}
