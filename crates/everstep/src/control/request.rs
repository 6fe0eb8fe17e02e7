//! A control request about one run, with its actor and reason.

use std::future::IntoFuture;

use everstep_engine::{Done, RequestOrigin};
use everstep_store::BoxFuture;

use self::sealed::FromDone as _;
use crate::client::{Command, ControlError, RunHandle};

/// A control verb. Sealed: only this crate implements it.
pub trait Verb: sealed::ToCommand {}

impl<V: sealed::ToCommand> Verb for V {}

pub(super) mod sealed {
    use super::{Command, ControlError, Done, RunHandle};

    pub trait ToCommand: Send + 'static {
        /// The result of the request.
        type Output: FromDone;

        fn command(self) -> Result<Command, ControlError>;
    }

    pub trait FromDone: Send + 'static {
        fn from_done(run: RunHandle, done: Done) -> Self;
    }

    impl FromDone for Done {
        fn from_done(_: RunHandle, done: Done) -> Self {
            done
        }
    }

    /// The handle to a fork.
    impl FromDone for RunHandle {
        fn from_done(run: RunHandle, done: Done) -> Self {
            Self::new(run.port, done.run, true, None)
        }
    }
}

/// A verb without options.
#[derive(Debug)]
pub struct Plain(pub(super) Result<Command, ControlError>);

impl sealed::ToCommand for Plain {
    type Output = Done;

    fn command(self) -> Result<Command, ControlError> {
        self.0
    }
}

/// A control request. Set the actor and the reason, then await it.
///
/// ```
/// # async fn example(run: everstep::RunHandle) -> Result<(), everstep::control::ControlError> {
/// let done = run.pause().reason("the bank is closed").by("alice").await?;
/// println!("{done}"); // run `order-7` is pausing
/// # Ok(())
/// # }
/// ```
#[must_use = "the request is sent only when it is awaited"]
#[derive(Debug)]
pub struct ControlRequest<V> {
    run: RunHandle,
    origin: RequestOrigin,
    pub(super) verb: V,
}

impl<V> ControlRequest<V> {
    pub(super) fn new(run: &RunHandle, verb: V) -> Self {
        Self {
            run: run.clone(),
            origin: RequestOrigin::default(),
            verb,
        }
    }

    /// Sets the actor, for the journal.
    pub fn by(mut self, name: impl Into<String>) -> Self {
        self.origin.by = Some(name.into());
        self
    }

    /// Sets the reason, for the journal.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.origin.reason = Some(reason.into());
        self
    }
}

impl<V: Verb> IntoFuture for ControlRequest<V> {
    type Output = Result<V::Output, ControlError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { run, origin, verb } = self;
            let command = verb.command()?;
            let done = run.port.control(run.id.clone(), command, origin).await?;
            Ok(V::Output::from_done(run, done))
        })
    }
}
