//! The options of a router. The defaults suit production.

use std::time::Duration;

use crate::origins::Origins;

/// How callers are authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Callers need a key, a run token, or a [`Caller`](crate::Caller) from the application.
    #[default]
    Keys,
    /// Callers without a key have all rights: for development, or behind an application that
    /// authorizes every request. A key or run token still limits its caller.
    Open,
}

/// The options of a router.
#[derive(Clone, Debug)]
#[non_exhaustive]
// Large type: one field for each option.
pub struct Options {
    /// How long a long-poll waits.
    pub long_poll_timeout: Duration,
    /// How long a request with `wait` or `reply` may wait.
    pub wait_max: Duration,
    /// How long an event stream stays open before the client reconnects. Below a second, clients
    /// stop using event streams.
    pub sse_lifetime: Duration,
    /// The maximum size of a request body in bytes.
    pub body_bytes_max: usize,
    /// The maximum size of a worker's request body in bytes. One request may contain the results of
    /// many steps.
    pub worker_body_bytes_max: usize,
    /// The maximum size of an imported journal in bytes. Imports count separately, up to the size
    /// of one.
    pub import_bytes_max: usize,
    /// The maximum size of all request bodies in memory, at least that of one. A key may use half
    /// of it, and a token as much as one body. Those of workers count separately, up to the size of
    /// one.
    pub requests_bytes_max: usize,
    /// The maximum size of all large responses that are not sent yet. A key may use half of it, and
    /// a token 16 MiB.
    pub responses_bytes_max: usize,
    /// How long a request body may take to arrive.
    pub body_timeout: Duration,
    /// The approximate size of one read in bytes. The client continues at its next offset.
    pub chunk_bytes: usize,
    /// The maximum number of waiting requests and event streams. Further ones are rejected with
    /// `Retry-After`.
    pub waiting_max: usize,
    /// How long a worker session stays open without a request. Then its runs are released.
    pub worker_time_to_live: Duration,
    /// The maximum number of runs that wait for a worker slot. Further runs stay available to other
    /// nodes.
    pub worker_queue_max: usize,
    /// The URL of the server, such as `https://streams.example`. By default it follows from `Host`.
    pub public_url: Option<String>,
    /// Webhooks that are called for failures. They need the engine's feed of failures.
    pub failure_webhooks: Vec<String>,
    /// How callers are authenticated.
    pub access: Access,
    /// The maximum lifetime of a run token.
    pub token_lifetime_max: Duration,
    /// The origins whose pages may read responses.
    pub origins: Origins,
    /// Whether to reject requests that do not address this machine or come from pages of other
    /// origins. For development.
    pub loopback_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            long_poll_timeout: Duration::from_secs(30),
            wait_max: Duration::from_secs(60),
            sse_lifetime: Duration::from_secs(60),
            body_bytes_max: 10 * 1024 * 1024,
            worker_body_bytes_max: 256 * 1024 * 1024,
            import_bytes_max: 256 * 1024 * 1024,
            requests_bytes_max: 64 * 1024 * 1024,
            responses_bytes_max: 256 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            chunk_bytes: 1024 * 1024,
            waiting_max: 10_000,
            worker_time_to_live: Duration::from_secs(15),
            worker_queue_max: 10_000,
            public_url: None,
            failure_webhooks: Vec::new(),
            access: Access::default(),
            token_lifetime_max: Duration::from_secs(15 * 60),
            origins: Origins::None,
            loopback_only: false,
        }
    }
}
