//! What the work of a step, and its undo, can know about it.

use std::sync::Arc;

use everstep_engine::CodedError;
use everstep_machine::{StepStart, TraceRoot};
use everstep_model::{
    Failure, Generation, Location, Payload, RunId, StepOptions, TraceParent, idempotency_key,
};
use serde::Serialize;

use super::cancellation::Cancellation;
use super::undo_slot::UndoSlot;
use crate::error::{Error, Result};

/// The run that a step is of.
#[derive(Clone, Debug)]
pub(super) struct StepOf {
    pub(super) run: RunId,
    /// The life whose idempotency keys its steps have.
    pub(super) keys_of: Generation,
    /// Where it stands in a trace.
    pub(super) trace: Option<TraceRoot>,
}

/// What a step's work can know about its attempt.
#[derive(Clone, Debug)]
pub struct StepContext {
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The step's name.
    pub name: String,
    /// How many steps of that name came before in the same scope.
    pub count: u32,
    /// How it is executed.
    pub options: StepOptions,
    of: StepOf,
    location: Location,
    cancellation: Arc<Cancellation>,
    undo: UndoSlot,
}

impl StepContext {
    /// Whether the run is being cancelled: the sooner the work ends, the sooner the run does.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_set()
    }

    /// Completes when the run is being cancelled.
    pub async fn cancelled(&self) {
        self.cancellation.until_set().await;
    }

    /// The key that all attempts of this step share and no other step has: give it to services that deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.of.run, self.of.keys_of, &self.location)
    }

    /// The span of this attempt in the run's trace, as the `traceparent` header of Trace Context carries it: give it to
    /// services that trace. It is the same before and after a restart, wherever the attempt is made.
    #[must_use]
    pub fn traceparent(&self) -> Option<TraceParent> {
        let run = self.of.trace?.of(&self.of.run);
        Some(run.attempt(&self.location, self.attempt))
    }

    /// Registers what the step's undo will need, as soon as there is something to undo. It is recorded with the result; or
    /// with the failure, if the attempt fails after this: then the step is undone too, if its undo was given with
    /// [`Step::undo_with`](crate::operation::Step::undo_with). A later call replaces an earlier one.
    ///
    /// # Errors
    /// If the payload cannot be recorded.
    pub fn undo_with<P: Serialize + ?Sized>(&self, payload: &P) -> Result<()> {
        let payload = Payload::from_value(payload).map_err(|error| {
            let message = format!(
                "the undo payload of step `{}` cannot be recorded: {error}",
                self.name
            );
            Error::from_failure(Failure::new(error.code(), message)).non_retryable()
        })?;
        self.undo.set(payload);
        Ok(())
    }

    pub(super) fn new(
        start: &StepStart,
        of: StepOf,
        cancellation: Arc<Cancellation>,
        undo: UndoSlot,
    ) -> Self {
        Self {
            attempt: start.attempt,
            name: start.location.name.as_str().to_owned(),
            count: start.location.counter,
            options: start.options,
            of,
            location: start.location.clone(),
            cancellation,
            undo,
        }
    }
}
