//! Requests to a run: an event whose sender waits for the workflow's reply.
//!
//! The reply is a record of the run's own journal, so a client can read it through any engine.

use std::time::Duration;

use everstep_model::{ErrorCode, Payload, PayloadError, RunId};
use futures_util::future::{Either, select};

use super::error::SendError;
use super::handle::{Handle, RunHandle};
use crate::declaration::{Accepts, Request};
use crate::workflow::Workflow;

/// Why a request got no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum RequestError {
    #[error("run `{0}` ended without a reply")]
    RunEnded(RunId),
    /// The run keeps the event, and may still act on it.
    #[error("no reply within {0:?}; the run keeps the event")]
    TimedOut(Duration),
    #[error("the reply does not match its type: {0}")]
    Reply(#[source] PayloadError),
    #[error(transparent)]
    Send(#[from] SendError),
}

impl RequestError {
    /// Returns the stable code of the error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::RunEnded(_) | Self::TimedOut(_) => ErrorCode::NoReply,
            Self::Reply(_) => ErrorCode::Undecodable,
            Self::Send(error) => error.code(),
        }
    }
}

impl RunHandle {
    /// Sends an event and waits for the workflow's reply. If the run is revived before its end is
    /// noticed here, the reply may come from its next generation.
    ///
    /// # Errors
    /// If the run does not accept the event, or ends without a reply.
    pub async fn request<E: Request>(&self, event: &E) -> Result<E::Reply, RequestError> {
        let payload = Payload::from_value(event).map_err(SendError::from)?;
        let event = self.event(E::NAME, payload, None)?;
        match self.port.request(event).await? {
            Some(reply) => reply.decode().map_err(RequestError::Reply),
            None => Err(RequestError::RunEnded(self.id.clone())),
        }
    }

    /// Sends an event and waits for the reply, up to a timeout.
    ///
    /// # Errors
    /// If the run does not accept the event, ends without a reply, or does not reply in time.
    pub async fn request_within<E: Request>(
        &self,
        event: &E,
        timeout: Duration,
    ) -> Result<E::Reply, RequestError> {
        let sleep = self.port.sleep(timeout);
        match select(std::pin::pin!(self.request(event)), sleep).await {
            Either::Left((reply, _)) => reply,
            Either::Right(_) => Err(RequestError::TimedOut(timeout)),
        }
    }
}

impl<W: Workflow> Handle<W> {
    /// Sends an event and waits for the workflow's reply. An event that the workflow does not
    /// accept does not compile.
    ///
    /// # Errors
    /// If the run ends without a reply.
    pub async fn request<E: Request>(&self, event: &E) -> Result<E::Reply, RequestError>
    where
        W: Accepts<E>,
    {
        RunHandle::request(self, event).await
    }

    /// Sends an event and waits for the reply, up to a timeout.
    ///
    /// # Errors
    /// If the run ends without a reply, or does not reply in time.
    pub async fn request_within<E: Request>(
        &self,
        event: &E,
        timeout: Duration,
    ) -> Result<E::Reply, RequestError>
    where
        W: Accepts<E>,
    {
        RunHandle::request_within(self, event, timeout).await
    }
}
