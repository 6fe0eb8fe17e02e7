//! The payload that an attempt registers for the undo of its step.

use std::sync::{Arc, Mutex, PoisonError};

use everstep_model::{Payload, StepOptions};

/// The payload that an attempt registered for the undo. Clones share it. The slot of a step without an undo stores nothing.
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

    pub(super) fn set(&self, payload: Payload) {
        if let Some(slot) = &self.0 {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
    }
}
