//! Undoing: how a step or child says what undoes it, and what its undo is given.

use std::future::Future;
use std::time::Duration;

use everstep_machine::{StepStart, UndoStart};
use everstep_model::{Failure, Payload, RunId, UndoMode};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::execution::{GivenUndo, StepContext, UndoInput, UndoWork, decode_for_undo};
use crate::options::{Retry, invalid, whole_millis};

/// What an undo is given.
#[derive(Clone, Debug)]
pub struct Undo<T> {
    /// What the step or child returned; none if a step failed after it had registered a payload.
    pub output: Option<T>,
    /// What the step registered with [`StepContext::undo_with`]; see [`Self::payload_as`].
    pub payload: Option<Payload>,
    /// Why the run rolls back.
    pub failure: Failure,
    /// Which attempt to undo it this is, from 1.
    pub attempt: u32,
    /// The run, if it is a child that is undone.
    pub child: Option<RunId>,
    /// The step as its own work saw it, with its idempotency key; a child's name and place, and a key that no other has.
    pub context: StepContext,
}

impl<T> Undo<T> {
    /// What the step registered, decoded.
    ///
    /// # Errors
    /// If it is not of that type.
    pub fn payload_as<P: DeserializeOwned>(&self) -> Result<Option<P>> {
        let what = format!("undo payload of step `{}`", self.context.name);
        let payload = self.payload.as_ref();
        payload
            .map(|payload| decode_for_undo(&what, payload))
            .transpose()
    }

    /// The key that all attempts to undo this share, and that is not the step's own.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let key = self.context.idempotency_key();
        match &self.child {
            None => format!("{key}-undo"),
            // Passes of the function may have started several children in one place.
            Some(child) => format!("{key}-undo-{child}"),
        }
    }
}

/// What a step or child says about its undo before it is called.
#[derive(Default)]
pub(super) struct UndoSetup {
    work: Option<UndoWork>,
    /// Whether it also undoes a step that failed after registering a payload.
    undoes_failures: bool,
    pub(super) internal: bool,
    pub(super) retry: Option<Retry>,
    pub(super) timeout: Option<Duration>,
}

impl UndoSetup {
    /// The undo takes what was returned.
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

    /// The undo takes all there is to know.
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

    /// The undo as it is recorded.
    ///
    /// # Errors
    /// If the options contradict each other.
    pub(super) fn mode(&self) -> Result<UndoMode> {
        let Self {
            work,
            undoes_failures: _,
            internal,
            retry,
            timeout,
        } = self;
        if work.is_none() {
            return if *internal || retry.is_some() || timeout.is_some() {
                Err(invalid("options of an undo need an undo: give it first"))
            } else {
                Ok(UndoMode::None)
            };
        }
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(invalid(
                "an undo's timeout must be longer than zero; leave it out for none",
            ));
        }
        Ok(if *internal {
            UndoMode::Internal
        } else {
            UndoMode::Undo
        })
    }

    /// An attempt that failed: what it registered is recorded only if the undo wants to know of failures.
    pub(super) fn of_failure(&self, mut start: StepStart) -> StepStart {
        if !self.undoes_failures {
            start.undo = None;
        }
        start
    }

    /// The undo itself, to be registered when the step or child is called.
    pub(super) fn take(&mut self) -> Option<GivenUndo> {
        Some(GivenUndo {
            work: self.work.take()?,
            retry: self.retry.map(Retry::policy),
            timeout: self.timeout.map(whole_millis),
        })
    }
}

fn result_of(undo: &UndoStart) -> String {
    format!("result of {} `{}`", word(undo), undo.location.name)
}

fn word(undo: &UndoStart) -> &'static str {
    match undo.child {
        None => "step",
        Some(_) => "child",
    }
}

/// What an undo returns besides success is of no interest.
fn run<R, E: Into<Error>>(
    undo: impl Future<Output = Result<R, E>> + Send + 'static,
) -> everstep_store::BoxFuture<'static, Result<()>> {
    Box::pin(async move { undo.await.map(drop).map_err(Into::into) })
}
