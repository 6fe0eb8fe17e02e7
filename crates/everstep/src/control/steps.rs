//! Verbs about one operation of a run.

use std::pin::Pin;

use everstep_engine::{Done, RequestOrigin, Revival, Settlement};

use crate::client::ControlError;
use everstep_model::{Payload, PayloadError};
use serde::Serialize;

use super::location;
use super::request::{ControlRequest, sealed::Perform};
use crate::client::RunHandle;

/// Skipping a step.
#[derive(Debug)]
pub struct SkipStep {
    step: String,
    result: Result<Payload, PayloadError>,
}

/// Giving a step its result.
#[derive(Debug)]
pub struct EditStep {
    step: String,
    result: Result<Payload, PayloadError>,
}

/// Making an operation fail.
#[derive(Debug)]
pub struct FailOperation {
    operation: String,
    message: String,
}

/// Beginning again at an operation.
#[derive(Debug)]
pub struct RestartFrom {
    operation: String,
    result: Option<Result<Payload, PayloadError>>,
}

impl RunHandle {
    /// Skips a step that has no result: it is taken to have returned `null`, or what is said. An attempt under way is
    /// stopped. A step is named as in its journal: `charge`, `charge:1` for the second of that name, `order/~3/ship/charge:0`
    /// inside loops and branches.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// run.skip_step("send-receipt").result(&"printed").by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn skip_step(&self, step: impl Into<String>) -> ControlRequest<SkipStep> {
        let skip = SkipStep {
            step: step.into(),
            result: Ok(Payload::null()),
        };
        ControlRequest::new(self, skip)
    }

    /// Gives a step its result, if it has none yet. To change one that it has, [restart from it](Self::restart_from).
    pub fn edit_step<T: Serialize + ?Sized>(
        &self,
        step: impl Into<String>,
        result: &T,
    ) -> ControlRequest<EditStep> {
        let edit = EditStep {
            step: step.into(),
            result: Payload::from_value(result),
        };
        ControlRequest::new(self, edit)
    }

    /// Makes an operation fail that has no result yet: a step, a sleep, a wait, a question, a child.
    pub fn fail_operation(
        &self,
        operation: impl Into<String>,
        message: impl Into<String>,
    ) -> ControlRequest<FailOperation> {
        let fail = FailOperation {
            operation: operation.into(),
            message: message.into(),
        };
        ControlRequest::new(self, fail)
    }

    /// Begins the run again at one of its operations, as a new generation that has every result from before it. A place
    /// inside a loop stands for the whole loop. A run that is not over is terminated first.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// run.restart_from("quote").with_result(&120).by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn restart_from(&self, operation: impl Into<String>) -> ControlRequest<RestartFrom> {
        let restart = RestartFrom {
            operation: operation.into(),
            result: None,
        };
        ControlRequest::new(self, restart)
    }
}

impl ControlRequest<SkipStep> {
    /// What the step is taken to have returned.
    pub fn result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.verb.result = Payload::from_value(result);
        self
    }
}

impl ControlRequest<RestartFrom> {
    /// The operation is a step, and is taken to have returned this: it does not run again.
    pub fn with_result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.verb.result = Some(Payload::from_value(result));
        self
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Done, ControlError>> + Send>>;

async fn settle(
    run: RunHandle,
    place: String,
    settlement: Settlement,
    origin: RequestOrigin,
) -> Result<Done, ControlError> {
    let place = location(&place)?;
    run.port.settle(&run.id, &place, settlement, origin).await
}

impl Perform for SkipStep {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        Box::pin(async move {
            let result = self.result?;
            settle(run, self.step, Settlement::Skip(result), origin).await
        })
    }
}

impl Perform for EditStep {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        Box::pin(async move {
            let result = self.result?;
            settle(run, self.step, Settlement::Edit(result), origin).await
        })
    }
}

impl Perform for FailOperation {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        let settlement = Settlement::Fail(self.message);
        Box::pin(settle(run, self.operation, settlement, origin))
    }
}

impl Perform for RestartFrom {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        Box::pin(async move {
            let revival = Revival::RestartFrom {
                at: location(&self.operation)?,
                edited: self.result.transpose()?,
            };
            run.port.revive(&run.id, revival, origin).await
        })
    }
}
