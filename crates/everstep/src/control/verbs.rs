//! Verbs about a run as a whole.

use std::pin::Pin;

use everstep_engine::{Control, Done, RequestOrigin};

use crate::engine_error::EngineError;

use super::request::{ControlRequest, sealed::Perform};
use crate::handle::RunHandle;

/// A verb without options of its own.
#[derive(Debug)]
pub struct Plain(Control);

/// Cancelling.
#[derive(Debug)]
pub struct Cancel {
    rollback: bool,
}

impl RunHandle {
    /// Pauses the run: steps in flight finish, nothing new begins. Timers still fire, and the run sees them when it is
    /// resumed.
    pub fn pause(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Pause))
    }

    /// Lets a paused run go on.
    pub fn resume(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Resume))
    }

    /// Cancels the run: what it waits for is refused, steps in flight end first, and then it is over.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::EngineError> {
    /// run.cancel().rollback().reason("the customer changed their mind").by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self) -> ControlRequest<Cancel> {
        ControlRequest::new(self, Cancel { rollback: false })
    }

    /// Ends the run at once, whatever it is doing. Its code does not hear of it, and nothing is undone.
    pub fn terminate(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Terminate))
    }

    /// Makes the run fail, with this message. It rolls back like any run that fails.
    pub fn force_fail(&self, message: impl Into<String>) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::ForceFail)).reason(message)
    }

    /// Begins the run again from its start, as a new generation. One that is not over is terminated first.
    pub fn restart(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Restart))
    }

    /// Lets a run that ended badly go on where it failed, as a new generation: what is done stays done.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::EngineError> {
    /// let done = run.recover().by("alice").await?;
    /// assert_eq!(done.generation, run.generation().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recover(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Recover))
    }

    /// Tries a rollback again that failed, as a new generation: what is undone stays undone.
    pub fn retry_rollback(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::RetryRollback))
    }

    /// Deletes the run with all its generations; its id can be used anew. One that is not over is terminated first.
    pub fn delete(&self) -> ControlRequest<Plain> {
        ControlRequest::new(self, Plain(Control::Delete))
    }
}

impl ControlRequest<Cancel> {
    /// Undoes completed steps before the run ends.
    pub fn rollback(mut self) -> Self {
        self.verb.rollback = true;
        self
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Done, EngineError>> + Send>>;

fn control(run: RunHandle, control: Control, origin: RequestOrigin) -> Asking {
    Box::pin(async move { run.port.control(&run.id, control, origin).await })
}

impl Perform for Plain {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        control(run, self.0, origin)
    }
}

impl Perform for Cancel {
    type Output = Done;

    fn perform(self, run: RunHandle, origin: RequestOrigin) -> Asking {
        let rollback = self.rollback;
        control(run, Control::Cancel { rollback }, origin)
    }
}
