//! The undo of a step or child: its configuration and its input.

use std::future::Future;
use std::time::Duration;

use everstep_machine::{StepStart, UndoStart};
use everstep_model::{Failure, Payload, RunId, UndoMode};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::execution::{
    GivenUndo, StepContext, UndoInput, UndoWork, decode_for_undo, kind_of_undone,
};
use crate::options::{Retry, invalid, whole_millis};

/// The input of an undo.
#[derive(Clone, Debug)]
pub struct Undo<T> {
    /// The result of the step or child. `None` if a step failed after it had registered a payload.
    pub output: Option<T>,
    /// The payload that the step registered with [`StepContext::undo_with`]; see
    /// [`Self::payload_as`].
    pub payload: Option<Payload>,
    /// Why the run rolls back.
    pub failure: Failure,
    /// The number of this attempt to undo, from 1.
    pub attempt: u32,
    /// The run of the child, if a child is undone.
    pub child: Option<RunId>,
    /// The context of the step, with its idempotency key; for a child its name and location, and a
    /// unique key.
    pub context: StepContext,
}

impl<T> Undo<T> {
    /// Decodes the payload that the step registered.
    pub fn payload_as<P: DeserializeOwned>(&self) -> Result<Option<P>> {
        let what = format!("undo payload of step `{}`", self.context.name);
        let decode = |payload| decode_for_undo(&what, payload);
        self.payload.as_ref().map(decode).transpose()
    }

    /// Returns the key that all attempts of this undo share. It differs from the key of the step.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let key = self.context.idempotency_key();
        match &self.child {
            None => format!("{key}-undo"),
            // Several passes of the function may have started children at one location.
            Some(child) => format!("{key}-undo-{child}"),
        }
    }
}

/// The configuration of an undo.
#[derive(Default)]
pub(super) struct UndoSetup {
    work: Option<UndoWork>,
    /// Whether the undo also runs for a step that failed after registering a payload.
    undoes_failures: bool,
    /// Whether the undo runs after the point of no return.
    pub(super) internal: bool,
    pub(super) retry: Option<Retry>,
    pub(super) timeout: Option<Duration>,
}

impl UndoSetup {
    /// Sets an undo that receives the result.
    pub(super) fn by_output<U, UndoFut, T, R, E>(&mut self, undo: U)
    where
        U: FnOnce(T) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undoes_failures = false;
        self.work = Some(Box::new(move |UndoInput { start, .. }| {
            // Only `undo_with` undoes a step that failed.
            let Some(output) = &start.output else {
                return Box::pin(std::future::ready(Ok(())));
            };
            match decode_for_undo(&result_of(&start), output) {
                Ok(output) => run(undo.clone()(output)),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            }
        }));
    }

    /// Sets an undo that receives an [`Undo`].
    pub(super) fn by_everything<U, UndoFut, T, R, E>(&mut self, undo: U)
    where
        U: FnOnce(Undo<T>) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undoes_failures = true;
        self.work = Some(Box::new(move |UndoInput { start, context }| {
            let output = start.output.as_ref();
            let output = output.map(|output| decode_for_undo(&result_of(&start), output));
            match output.transpose() {
                Ok(output) => run(undo.clone()(Undo {
                    output,
                    payload: start.payload,
                    failure: start.failure,
                    attempt: start.attempt,
                    child: start.child,
                    context,
                })),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            }
        }));
    }

    /// Returns the recorded mode. Fails if the options contradict each other.
    pub(super) fn mode(&self) -> Result<UndoMode> {
        if self.work.is_none() {
            return if self.internal || self.retry.is_some() || self.timeout.is_some() {
                Err(invalid("options of an undo need an undo: give it first"))
            } else {
                Ok(UndoMode::None)
            };
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(invalid(
                "an undo's timeout must be longer than zero; leave it out for none",
            ));
        }
        Ok(match self.internal {
            true => UndoMode::Internal,
            false => UndoMode::Undo,
        })
    }

    /// Removes the registered payload of a failed attempt, unless the undo also runs for failures.
    pub(super) fn of_failure(&self, mut start: StepStart) -> StepStart {
        if !self.undoes_failures {
            start.undo = None;
        }
        start
    }

    /// Takes the undo, to register it when the step or child is called.
    pub(super) fn take(&mut self) -> Option<GivenUndo> {
        Some(GivenUndo {
            work: self.work.take()?,
            retry: self.retry.map(Retry::policy),
            timeout: self.timeout.map(whole_millis),
        })
    }
}

fn result_of(undo: &UndoStart) -> String {
    let (kind, name) = (kind_of_undone(undo), &undo.location.name);
    format!("result of {kind} `{name}`")
}

/// Discards the output of an undo.
fn run<R, E: Into<Error>>(
    undo: impl Future<Output = Result<R, E>> + Send + 'static,
) -> everstep_store::BoxFuture<'static, Result<()>> {
    Box::pin(async move { undo.await.map(drop).map_err(Into::into) })
}

/// The methods that configure the undo of an operation with a field `undo: UndoSetup`.
macro_rules! undo_options {
    ($operation:literal, $(#[$undo:meta])* undo, $(#[$undo_with:meta])* undo_with) => {
        $(#[$undo])*
        pub fn undo<U, UndoFut, R, E>(mut self, undo: U) -> Self
        where
            U: FnOnce(T) -> UndoFut + Clone + Send + 'static,
            UndoFut: Future<Output = Result<R, E>> + Send + 'static,
            E: Into<Error>,
            T: DeserializeOwned,
        {
            self.undo.by_output(undo);
            self
        }

        $(#[$undo_with])*
        pub fn undo_with<U, UndoFut, R, E>(mut self, undo: U) -> Self
        where
            U: FnOnce($crate::operation::Undo<T>) -> UndoFut + Clone + Send + 'static,
            UndoFut: Future<Output = Result<R, E>> + Send + 'static,
            E: Into<Error>,
            T: DeserializeOwned,
        {
            self.undo.by_everything(undo);
            self
        }

        /// Lets the undo run even after the point of no return ([`crate::Ctx::no_return`]).
        pub fn undo_internal(mut self) -> Self {
            self.undo.internal = true;
            self
        }

        #[doc = concat!("Sets the retry policy of the undo. The default is that of ", $operation, ".")]
        pub fn undo_retry(mut self, retry: Retry) -> Self {
            self.undo.retry = Some(retry);
            self
        }

        #[doc = concat!("Limits the duration of one attempt of the undo. The default is that of ", $operation, ".")]
        pub fn undo_timeout(mut self, timeout: Duration) -> Self {
            self.undo.timeout = Some(timeout);
            self
        }
    };
}

pub(super) use undo_options;
