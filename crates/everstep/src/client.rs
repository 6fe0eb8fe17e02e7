//! Whoever asks an engine: in the same process, or over HTTP.

use std::sync::Arc;

use crate::port::Port;

/// Starts runs, finds them, watches and steers them. An [`Engine`](crate::Engine) is one for its own runs; with
/// [`Client::connect`] the engine is behind a server.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) port: Arc<dyn Port>,
}

impl Client {
    pub(crate) fn new(port: Arc<dyn Port>) -> Self {
        Self { port }
    }
}
