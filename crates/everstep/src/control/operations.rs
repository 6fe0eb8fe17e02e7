//! Verbs about one operation of a run.

use everstep_engine::{InvalidOptions, Settlement};
use everstep_model::{InvalidLocation, Location, Payload, RunId};
use serde::Serialize;

use super::request::{ControlRequest, Fork, Plain, RestartFrom, SkipStep};
use crate::client::{Command, ControlError, RunHandle};

impl RunHandle {
    /// Skips a step that has no result: its result is `null`, or the one that is set. An attempt in
    /// flight is stopped. A step is named as in its journal: `charge`, `charge:1` for the second of
    /// that name, `order/~3/ship/charge:0` inside loops and branches.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// run.skip_step("send-receipt").result(&"printed").by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn skip_step(&self, step: impl AsRef<str>) -> ControlRequest<SkipStep> {
        let skip = Settlement::Skip(Payload::null());
        ControlRequest::new(self, settle(step.as_ref(), skip))
    }

    /// Sets the result of a step that has none. To change a result, [restart from the
    /// step](Self::restart_from).
    pub fn edit_step<T: Serialize + ?Sized>(
        &self,
        step: impl AsRef<str>,
        result: &T,
    ) -> ControlRequest<Plain> {
        let result = Payload::from_value(result).map_err(ControlError::from);
        let command = result.and_then(|result| settle(step.as_ref(), Settlement::Edit(result)));
        ControlRequest::new(self, command)
    }

    /// Fails an operation that has no result: a step, a sleep, a wait, an rpc, a child.
    pub fn fail_operation(
        &self,
        operation: impl AsRef<str>,
        message: impl Into<String>,
    ) -> ControlRequest<Plain> {
        let command = settle(operation.as_ref(), Settlement::Fail(message.into()));
        ControlRequest::new(self, command)
    }

    /// Restarts the run from one of its operations, as a new generation that keeps all earlier
    /// results. An operation inside a loop stands for the whole loop. An active run is terminated
    /// first.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// run.restart_from("quote").with_result(&120).by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn restart_from(&self, operation: impl AsRef<str>) -> ControlRequest<RestartFrom> {
        let restart = |at| Command::RestartFrom { at, edited: None };
        ControlRequest::new(self, location(operation.as_ref()).map(restart))
    }

    /// Starts another run with a copy of this run's journal. This run continues unchanged, and the
    /// new run never undoes what this run did.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// let what_if = run.fork().at("quote").with_result(&120).id("order-7-cheaper").await?;
    /// println!("{:?}", what_if.wait_json().await);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self) -> ControlRequest<Fork> {
        let fork = Command::Fork {
            id: None,
            at: None,
            edited: None,
        };
        ControlRequest::new(self, Ok(fork))
    }
}

impl ControlRequest<SkipStep> {
    /// Sets the result of the step.
    pub fn result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.options.result = Some(Payload::from_value(result));
        self
    }
}

impl ControlRequest<RestartFrom> {
    /// Sets the result of the operation, which must be a step. The step is not executed again.
    pub fn with_result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.options.result = Some(Payload::from_value(result));
        self
    }
}

impl ControlRequest<Fork> {
    /// Sets the id of the new run. The default is random. Repeating the same fork returns the same
    /// run.
    pub fn id(mut self, id: impl AsRef<str>) -> Self {
        self.options.id = Some(RunId::new(id));
        self
    }

    /// Sets the operation before which the copy ends. An operation inside a loop stands for the
    /// whole loop.
    pub fn at(mut self, operation: impl AsRef<str>) -> Self {
        self.options.at = Some(location(operation.as_ref()));
        self
    }

    /// Sets the result of the operation, which must be a step.
    pub fn with_result<T: Serialize + ?Sized>(mut self, result: &T) -> Self {
        self.options.result = Some(Payload::from_value(result));
        self
    }
}

/// Parses a location; `charge` is short for `charge:0`.
fn location(text: &str) -> Result<Location, ControlError> {
    let parsed = match text.parse::<Location>() {
        Err(InvalidLocation::NoCounter) => format!("{text}:0").parse(),
        parsed => parsed,
    };
    parsed.map_err(|error| InvalidOptions(error.to_string()).into())
}

fn settle(operation: &str, settlement: Settlement) -> Result<Command, ControlError> {
    Ok(Command::Settle(location(operation)?, settlement))
}
