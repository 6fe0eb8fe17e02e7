//! Forking a run into another.

use std::pin::Pin;

use everstep_engine::{ForkRun, RequestOrigin};

use crate::client::ControlError;
use everstep_model::{Payload, PayloadError, RunId};
use serde::Serialize;

use super::location;
use super::request::{ControlRequest, sealed::Perform};
use crate::client::Begun;
use crate::client::RunHandle;

/// Forking.
#[derive(Debug, Default)]
pub struct Fork {
    id: Option<String>,
    at: Option<String>,
    result: Option<Result<Payload, PayloadError>>,
}

impl RunHandle {
    /// Begins another run where this one is, or was: with every result from before that place. This run goes on
    /// untouched, and what it did is never undone by the other.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// let what_if = run.fork().at("quote").with_result(&120).id("order-7-cheaper").await?;
    /// println!("{:?}", what_if.wait_json().await);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self) -> ControlRequest<Fork> {
        ControlRequest::new(self, Fork::default())
    }
}

impl ControlRequest<Fork> {
    /// The id of the new run; a random one unless this is said. The same fork asked for again gives the same run.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.verb.id = Some(id.into());
        self
    }

    /// The operation before which the new run begins. A place inside a loop stands for the whole loop.
    pub fn at(mut self, operation: impl Into<String>) -> Self {
        self.verb.at = Some(operation.into());
        self
    }

    /// The operation is a step, and is taken to have returned this.
    pub fn with_result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.verb.result = Some(Payload::from_value(result));
        self
    }
}

impl Perform for Fork {
    type Output = RunHandle;

    fn perform(
        self,
        run: RunHandle,
        origin: RequestOrigin,
    ) -> Pin<Box<dyn Future<Output = Result<RunHandle, ControlError>> + Send>> {
        Box::pin(async move {
            let fork = ForkRun {
                run: run.id.clone(),
                id: self.id.map(RunId::new).transpose()?,
                at: self.at.map(|at| location(&at)).transpose()?,
                edited: self.result.transpose()?,
            };
            let done = run.port.fork(fork, origin).await?;
            let begun = Begun {
                run: done.run,
                created: true,
                stream: None,
            };
            Ok(RunHandle::new(run.port, begun))
        })
    }
}
