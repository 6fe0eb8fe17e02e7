//! The limits on connections, which operators configure.

use std::time::Duration;

use super::tls::Tls;

/// Limits on connections, and TLS.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Connections {
    /// The maximum number of connections. Further ones replace those of the caller that has the
    /// most, first of callers without a key. The limit of file descriptors may lower it.
    pub max: usize,
    /// How long the head of a request may take to arrive, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// The maximum size of the head of a request in bytes, at least 8,192.
    pub head_bytes_max: usize,
    /// How long the TLS handshake may take.
    pub handshake_timeout: Duration,
    /// How long a client may read nothing of a response.
    pub stall_timeout: Duration,
    /// How long responses in flight may take after serving has ended.
    pub grace: Duration,
    /// The certificate. Without it, connections are not encrypted.
    pub tls: Option<Tls>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 10_000,
            head_timeout: Duration::from_secs(10),
            head_bytes_max: 16 * 1024,
            handshake_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            tls: None,
        }
    }
}
