//! Asking a run: an event whose sender waits for the workflow's answer.
//!
//! The answer is a record of the run's own journal, so whoever asked finds it there, whichever engine they ask through.

use std::time::Duration;

use everstep_engine::SendEvent;

use super::SendError;
use everstep_model::{ErrorCode, Name, Payload, PayloadError, RunId};
use futures_util::future::{Either, select};

use super::{Handle, RunHandle};
use crate::declaration::{Accepts, Request};
use crate::workflow::Workflow;

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The run ended without answering.
    #[error("run `{0}` ended without an answer")]
    RunEnded(RunId),
    /// The answer did not come in time. The event stays with the run, which may still act on it.
    #[error("no answer within {0:?}; the event stays with the run")]
    TimedOut(Duration),
    /// The answer does not have the expected shape.
    #[error("the answer does not fit its type: {0}")]
    Reply(#[source] PayloadError),
    /// The event was not accepted.
    #[error(transparent)]
    Send(#[from] SendError),
}

impl RequestError {
    /// Its stable code.
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
    /// Sends an event and waits for the workflow's answer to it. If the run is revived before its end is noticed
    /// here, the answer may come from its next generation.
    ///
    /// # Errors
    /// If the run does not accept the event, or ends without answering.
    pub async fn request<E: Request>(&self, event: &E) -> Result<E::Reply, RequestError> {
        let payload = Payload::from_value(event).map_err(SendError::from)?;
        let name = Name::new(E::NAME).map_err(SendError::from)?;
        let event = SendEvent {
            run: self.id.clone(),
            name,
            payload,
            dedup_id: None,
            by: None,
            generation: None,
        };
        match self.port.ask(event).await? {
            Some(answer) => answer.decode().map_err(RequestError::Reply),
            None => Err(RequestError::RunEnded(self.id.clone())),
        }
    }

    /// Sends an event and waits for the answer, but not longer than this.
    ///
    /// # Errors
    /// If the run does not accept the event, ends without answering, or does not answer in time.
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
    /// Sends an event and waits for the workflow's answer to it. One that the workflow does not accept does not compile.
    ///
    /// # Errors
    /// If the run ends without answering.
    pub async fn request<E: Request>(&self, event: &E) -> Result<E::Reply, RequestError>
    where
        W: Accepts<E>,
    {
        RunHandle::request(self, event).await
    }

    /// Sends an event and waits for the answer, but not longer than this.
    ///
    /// # Errors
    /// If the run ends without answering, or does not answer in time.
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
