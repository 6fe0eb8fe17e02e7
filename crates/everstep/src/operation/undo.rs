//! Undoing: how a step or child says what undoes it, and what its undo is given.

use std::any::Any;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_machine::{StepStart, UndoStart};
use everstep_model::{ErrorCode, Failure, Payload, RunId, StepOptions, UndoMode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::step::Step;
use super::step_context::StepContext;
use super::step_failure::{panic_text, payload_error_code};
use crate::error::{Error, Result};
use crate::execution::{GivenUndo, UndoInput, UndoWork, decode_for_undo};
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

/// What an attempt registered for the step's undo; clones are the same. One of a step that has no undo keeps nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndoSlot(Option<Arc<Mutex<Option<Payload>>>>);

impl UndoSlot {
    pub(super) fn of_step(options: &StepOptions) -> Self {
        Self((!options.undo.is_none()).then(Arc::default))
    }

    pub(super) fn take(&self) -> Option<Payload> {
        let slot = self.0.as_ref()?.lock();
        slot.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, payload: Payload) {
        if let Some(slot) = &self.0 {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
    }
}

impl StepContext {
    /// Registers what the step's undo will need, as soon as there is something to undo. It is recorded with the result; or
    /// with the failure, if the attempt fails after this: then the step is undone too, if its undo was given with
    /// [`Step::undo_with`]. A later call replaces an earlier one.
    ///
    /// # Errors
    /// If the payload cannot be recorded.
    pub fn undo_with<P: Serialize + ?Sized>(&self, payload: &P) -> Result<()> {
        let payload = Payload::from_value(payload).map_err(|error| {
            let message = format!(
                "the undo payload of step `{}` cannot be recorded: {error}",
                self.name
            );
            Error::from_failure(Failure::new(payload_error_code(&error), message)).non_retryable()
        })?;
        self.undo_slot().set(payload);
        Ok(())
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

impl<F, Fut, T> Step<F, Fut, T> {
    /// How the step is undone when the run rolls back. The undo is given the step's result, owns what it captures, and is
    /// retried like the step unless said otherwise.
    ///
    /// ```
    /// # use everstep::{AnyEvent, Ctx, Error, Result};
    /// # #[derive(Clone)]
    /// # struct Bank;
    /// # impl Bank {
    /// #     async fn charge(&self) -> Result<u32> { Ok(7) }
    /// #     async fn refund(&self, _: u32) -> Result<()> { Ok(()) }
    /// # }
    /// async fn pay(ctx: Ctx<AnyEvent>, bank: Bank) -> Result<u32> {
    ///     let refunder = bank.clone();
    ///     ctx.step("charge", || bank.charge())
    ///         .undo(move |charge| async move { refunder.refund(charge).await })
    ///         .await
    /// }
    /// ```
    pub fn undo<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(T) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undo_setup().by_output(undo);
        self
    }

    /// How the step is undone, given all there is to know: its result, the payload it registered, why the run rolls back,
    /// and the step itself. It also runs for a step that failed after it had registered a payload.
    pub fn undo_with<U, UndoFut, R, E>(mut self, undo: U) -> Self
    where
        U: FnOnce(Undo<T>) -> UndoFut + Clone + Send + 'static,
        UndoFut: Future<Output = Result<R, E>> + Send + 'static,
        E: Into<Error>,
        T: DeserializeOwned,
    {
        self.undo_setup().by_everything(undo);
        self
    }

    /// The undo runs even after the point of no return ([`crate::Ctx::no_return`]).
    pub fn undo_internal(mut self) -> Self {
        self.undo_setup().internal = true;
        self
    }

    /// How the undo is retried; like the step unless said.
    pub fn undo_retry(mut self, retry: Retry) -> Self {
        self.undo_setup().retry = Some(retry);
        self
    }

    /// How long one attempt to undo the step may take; as long as the step's own unless said.
    pub fn undo_timeout(mut self, timeout: Duration) -> Self {
        self.undo_setup().timeout = Some(timeout);
        self
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

/// The failure of an undo that panicked.
pub(crate) fn undo_panicked(panic: &(dyn Any + Send)) -> Error {
    let message = format!("the undo panicked: {}", panic_text(panic));
    Error::from_failure(Failure::new(ErrorCode::StepPanicked, message))
}

/// The failure of an undo that took too long.
pub(crate) fn undo_timed_out(undo: &UndoStart, timeout: Duration) -> Failure {
    let (word, place) = (word(undo), &undo.location);
    let message = format!("undoing {word} `{place}` took longer than its timeout of {timeout:?}");
    Failure::new(ErrorCode::StepTimedOut, message).named("timeout")
}
