//! The context of a step for its work and its undo, with the signal of cancellation and the payload
//! of the undo.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::TraceRoot;
use everstep_model::{
    Generation, Location, Payload, RunId, StepOptions, TraceParent, idempotency_key,
};
use serde::Serialize;
use tokio::sync::Notify;

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
    pub(super) of: StepOf,
    pub(super) location: Location,
    pub(super) cancellation: Arc<Cancellation>,
    pub(super) undo: UndoSlot,
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

    /// Returns the key that all attempts of this step share and no other step has, for services
    /// that deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.of.run, self.of.keys_of, &self.location)
    }

    /// Returns the span of this attempt in the run's trace, for the `traceparent` header of
    /// requests. It does not change after a restart or on another node.
    #[must_use]
    pub fn traceparent(&self) -> Option<TraceParent> {
        let run = self.of.trace?.of(&self.of.run);
        Some(run.attempt(&self.location, self.attempt))
    }

    /// Registers a payload for the undo, as soon as there is something to undo. It is recorded with
    /// the result or the failure of the attempt. A failed step with a payload is undone too if its
    /// undo was set by [`Step::undo_with`](crate::operation::Step::undo_with). A later call
    /// replaces an earlier one.
    pub fn undo_with<P: Serialize + ?Sized>(&self, payload: &P) -> Result<()> {
        let describe = || format!("the undo payload of step `{}`", self.name);
        self.undo.set(encode(payload, describe)?);
        Ok(())
    }
}

/// Signals the cancellation of a run to the work of its steps. Set once, when the execution has
/// folded it.
#[derive(Debug, Default)]
pub(super) struct Cancellation {
    is_set: AtomicBool,
    changed: Notify,
}

impl Cancellation {
    pub(super) fn set(&self) {
        if !self.is_set.swap(true, Ordering::AcqRel) {
            self.changed.notify_waiters();
        }
    }

    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Completes when the run is being cancelled.
    async fn until_set(&self) {
        // Registered before the check, so that no signal is missed in between.
        let mut changed = std::pin::pin!(self.changed.notified());
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}

/// The payload that an attempt registered for the undo. Clones share it. The slot of a step without
/// an undo stores nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct UndoSlot(Option<Arc<Mutex<Option<Payload>>>>);

impl UndoSlot {
    pub(crate) fn new(options: &StepOptions) -> Self {
        Self((!options.undo.is_none()).then(Arc::default))
    }

    pub(crate) fn take(&self) -> Option<Payload> {
        let slot = self.0.as_ref()?.lock();
        slot.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, payload: Payload) {
        if let Some(slot) = &self.0 {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
    }
}
