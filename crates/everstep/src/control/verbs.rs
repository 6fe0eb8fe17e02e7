//! Verbs that apply to a run as a whole.

use everstep_engine::Control;

use super::request::{Cancel, ControlRequest, Plain};
use crate::client::{Command, RunHandle};

impl RunHandle {
    fn control<V>(&self, control: Control) -> ControlRequest<V> {
        ControlRequest::new(self, Ok(Command::Control(control)))
    }

    /// Pauses the run: steps in flight finish, and nothing new begins. Timers still fire; the run
    /// processes them when it is resumed.
    pub fn pause(&self) -> ControlRequest<Plain> {
        self.control(Control::Pause)
    }

    /// Continues a paused run.
    pub fn resume(&self) -> ControlRequest<Plain> {
        self.control(Control::Resume)
    }

    /// Cancels the run: its waits are refused, steps in flight finish, completed steps are undone,
    /// and then the run ends. [`keep`](ControlRequest::keep) ends it without undoing anything.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// run.cancel().reason("the customer changed their mind").by("alice").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self) -> ControlRequest<Cancel> {
        self.control(Control::Cancel { rollback: true })
    }

    /// Ends the run at once, whatever it is doing. Its code gets no chance to react, and nothing is
    /// undone.
    pub fn terminate(&self) -> ControlRequest<Plain> {
        self.control(Control::Terminate)
    }

    /// Fails the run with this message. It rolls back like any failed run.
    pub fn force_fail(&self, message: impl Into<String>) -> ControlRequest<Plain> {
        self.control(Control::Fail).reason(message)
    }

    /// Restarts the run from the beginning, as a new generation. An active run is terminated first.
    pub fn restart(&self) -> ControlRequest<Plain> {
        self.control(Control::Restart)
    }

    /// Continues an unsuccessful run where it failed, as a new generation. Completed steps are
    /// kept.
    ///
    /// ```
    /// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
    /// let done = run.recover().by("alice").await?;
    /// assert_eq!(done.generation, run.generation().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recover(&self) -> ControlRequest<Plain> {
        self.control(Control::Recover)
    }

    /// Repeats a failed rollback, as a new generation. Completed undos are kept.
    pub fn retry_rollback(&self) -> ControlRequest<Plain> {
        self.control(Control::RetryRollback)
    }

    /// Deletes the run with all its generations, so that its id can be used again. An active run is
    /// terminated first.
    pub fn delete(&self) -> ControlRequest<Plain> {
        self.control(Control::Delete)
    }
}

impl ControlRequest<Cancel> {
    /// Keeps the effects of completed steps instead of undoing them.
    pub fn keep(mut self) -> Self {
        self.command = Ok(Command::Control(Control::Cancel { rollback: false }));
        self
    }
}
