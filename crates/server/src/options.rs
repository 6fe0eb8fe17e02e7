//! What can be set, with the defaults of a careful operator.

use std::time::Duration;

use crate::origins::Origins;

/// Who may come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Who shows a key or a run token, or for whom the application vouches ([`Caller`](crate::Caller)).
    #[default]
    Keys,
    /// Everybody may do everything: for development, or behind an application that decides it all. Whoever shows a key or a
    /// run token has what that allows, and no more.
    Open,
}

/// How a server behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How long a long-poll waits for news.
    pub long_poll_timeout: Duration,
    /// How long a request with `wait` or `reply` may be held.
    pub wait_max: Duration,
    /// How long an event stream stays open. Clients come back; shorter than a second they give up on event streams.
    pub sse_lifetime: Duration,
    /// Bytes of a request's body.
    pub body_bytes_max: usize,
    /// Bytes of the body of a worker's request: a run that ends many steps at once writes their results together.
    pub worker_body_bytes_max: usize,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// About how many bytes one answer holds; there is more at its next offset.
    pub chunk_bytes: usize,
    /// Long-polls and event streams that wait at once; more are asked to come back.
    pub waiting_max: usize,
    /// How long a worker may go without a request before its runs go to others.
    pub worker_time_to_live: Duration,
    /// Runs that may wait for a slot of a worker; more stay where other nodes can take them.
    pub worker_queue_max: usize,
    /// How clients call the server, such as `https://streams.example`, where that is not what they say in `Host`.
    pub public_url: Option<String>,
    /// Who may come in.
    pub access: Access,
    /// How long a run token may live.
    pub token_lifetime_max: Duration,
    /// Which web pages may read answers.
    pub origins: Origins,
    /// Whether only requests addressed to this machine are answered, from no pages but its own. For development.
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
            body_timeout: Duration::from_secs(60),
            chunk_bytes: 1024 * 1024,
            waiting_max: 10_000,
            worker_time_to_live: Duration::from_secs(15),
            worker_queue_max: 10_000,
            public_url: None,
            access: Access::default(),
            token_lifetime_max: Duration::from_secs(15 * 60),
            origins: Origins::None,
            loopback_only: false,
        }
    }
}
