//! What the work of a step, and its undo, can know about it.

use std::sync::Arc;

use everstep_machine::StepStart;
use everstep_model::{RunId, StepOptions, idempotency_key};

use super::undo::UndoSlot;
use crate::execution::Cancellation;

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
    run: RunId,
    generation: everstep_model::Generation,
    location: everstep_model::Location,
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
        idempotency_key(&self.run, self.generation, &self.location)
    }

    pub(super) fn undo_slot(&self) -> &UndoSlot {
        &self.undo
    }
}

impl StepContext {
    pub(crate) fn new(
        start: &StepStart,
        run: RunId,
        generation: everstep_model::Generation,
        cancellation: Arc<Cancellation>,
        undo: UndoSlot,
    ) -> Self {
        Self {
            attempt: start.attempt,
            name: start.location.name.to_string(),
            count: start.location.counter,
            options: start.options,
            run,
            generation,
            location: start.location.clone(),
            cancellation,
            undo,
        }
    }
}
