//! The transport of requests. It is a trait, so that tests and simulations need no sockets.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};

/// Carries requests to a server. The URL of a request is absolute.
pub trait Transport: Send + Sync + 'static {
    /// Sends one request and returns the complete response.
    fn call(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<Bytes>, TransportError>>;
}

/// The timeout of a single request. Stored as an extension of the request, for requests that wait
/// on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTimeout(pub Duration);

/// There was no response. The variant shows whether the server may have acted on the request; the
/// address is the scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "plain data")]
#[non_exhaustive]
pub enum TransportError {
    /// The connection was refused.
    #[error(
        "nothing listens at {address}; start `everstep dev` there, or name another server with --server"
    )]
    ConnectionRefused { address: String },
    /// The host could not be reached.
    #[error("{address} cannot be reached: {detail}")]
    Unreachable { address: String, detail: String },
    /// The TLS handshake failed.
    #[error("no secure connection to {address}: {detail}")]
    TlsFailed { address: String, detail: String },
    /// The request timed out. The server may have acted on it.
    #[error("{address} did not answer within {timeout:?}")]
    TimedOut { address: String, timeout: Duration },
    /// The connection broke. The server may have acted on the request.
    #[error("the connection to {address} was lost: {detail}")]
    Broken { address: String, detail: String },
}

impl TransportError {
    /// Whether the request certainly did not reach the server.
    #[must_use]
    pub fn was_never_sent(&self) -> bool {
        match self {
            Self::ConnectionRefused { .. } | Self::Unreachable { .. } | Self::TlsFailed { .. } => {
                true
            }
            Self::TimedOut { .. } | Self::Broken { .. } => false,
        }
    }
}
