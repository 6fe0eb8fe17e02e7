//! A control request about one run, with its actor and reason.

use std::future::IntoFuture;
use std::marker::PhantomData;

use everstep_engine::{Done, RequestOrigin, Settlement};
use everstep_model::{InvalidRunId, Location, Payload, PayloadError, RunId};
use everstep_store::BoxFuture;

use crate::client::{Command, ControlError, RunHandle};

/// A control verb. Sealed: only this crate implements it.
pub trait Verb: sealed::FromDone {}

impl<V: sealed::FromDone> Verb for V {}

mod sealed {
    pub trait FromDone: 'static {
        /// The result of the request.
        type Output;

        fn from_done(run: super::RunHandle, done: super::Done) -> Self::Output;
    }
}

/// Defines verbs whose requests return [`Done`].
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub enum $verb {}

            impl sealed::FromDone for $verb {
                type Output = Done;

                fn from_done(_: RunHandle, done: Done) -> Done {
                    done
                }
            }
        )*
    };
}

verbs! {
    /// A verb without options.
    Plain,
    /// The verb `cancel`.
    Cancel,
    /// The verb `skip`.
    SkipStep,
    /// The verb `restart`, from an operation.
    RestartFrom,
}

/// The verb `fork`.
#[derive(Debug)]
pub enum Fork {}

impl sealed::FromDone for Fork {
    type Output = RunHandle;

    fn from_done(run: RunHandle, done: Done) -> RunHandle {
        RunHandle::new(run.port, done.run, true, None)
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
    pub(super) command: Result<Command, ControlError>,
    pub(super) options: Options,
    verb: PhantomData<fn() -> V>,
}

/// The options of a command as they were last set. They are checked when the request is sent.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) id: Option<Result<RunId, InvalidRunId>>,
    pub(super) at: Option<Result<Location, ControlError>>,
    pub(super) result: Option<Result<Payload, PayloadError>>,
}

impl Options {
    fn apply(self, command: &mut Command) -> Result<(), ControlError> {
        match command {
            Command::Settle(_, Settlement::Skip(skipped)) => {
                if let Some(result) = self.result {
                    *skipped = result?;
                }
            }
            Command::RestartFrom { edited, .. } => *edited = self.result.transpose()?,
            Command::Fork { id, at, edited } => {
                *id = self.id.transpose()?;
                *at = self.at.transpose()?;
                *edited = self.result.transpose()?;
            }
            Command::Settle(..) | Command::Control(_) => {}
        }
        Ok(())
    }
}

impl<V> ControlRequest<V> {
    pub(super) fn new(run: &RunHandle, command: Result<Command, ControlError>) -> Self {
        Self {
            run: run.clone(),
            origin: RequestOrigin::default(),
            command,
            options: Options::default(),
            verb: PhantomData,
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
            let (run, mut command) = (self.run, self.command?);
            self.options.apply(&mut command)?;
            let control = run.port.control(run.id.clone(), command, self.origin);
            let done = control.await?;
            Ok(V::from_done(run, done))
        })
    }
}
