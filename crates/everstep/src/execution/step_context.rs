//! The context of a step for its work and its undo.

use std::sync::Arc;

use everstep_machine::{StepStart, TraceRoot};
use everstep_model::{Generation, Location, RunId, StepOptions, TraceParent, idempotency_key};
use serde::Serialize;

use super::cancellation::Cancellation;
use super::undo_slot::UndoSlot;
use crate::error::{Result, encode};

/// The run of a step.
#[derive(Clone, Debug)]
pub(super) struct StepOf {
    pub(super) run: RunId,
    /// The generation that the idempotency keys of its steps contain.
    pub(super) keys_of: Generation,
    pub(super) trace: Option<TraceRoot>,
}

/// The context of an attempt of a step.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "plain data")]
pub struct StepContext {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    pub name: String,
    /// The number of earlier steps with this name in the same scope.
    pub count: u32,
    pub options: StepOptions,
    of: StepOf,
    location: Location,
    cancellation: Arc<Cancellation>,
    undo: UndoSlot,
}

impl StepContext {
    /// Returns whether the run is being cancelled. The run ends when the work has ended.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_set()
    }

    /// Completes when the run is being cancelled.
    pub async fn cancelled(&self) {
        self.cancellation.until_set().await;
    }

    /// Returns the key that all attempts of this step share and no other step has, for services that deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.of.run, self.of.keys_of, &self.location)
    }

    /// Returns the span of this attempt in the run's trace, for the `traceparent` header of requests. It does not change after
    /// a restart or on another node.
    #[must_use]
    pub fn traceparent(&self) -> Option<TraceParent> {
        let run = self.of.trace?.of(&self.of.run);
        Some(run.attempt(&self.location, self.attempt))
    }

    /// Registers a payload for the undo, as soon as there is something to undo. It is recorded with the result or the failure of
    /// the attempt. A failed step with a payload is undone too if its undo was set by
    /// [`Step::undo_with`](crate::operation::Step::undo_with). A later call replaces an earlier one.
    pub fn undo_with<P: Serialize + ?Sized>(&self, payload: &P) -> Result<()> {
        let describe = || format!("the undo payload of step `{}`", self.name);
        self.undo.set(encode(payload, describe)?);
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
