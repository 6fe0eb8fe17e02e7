//! The undos that workflow code supplied for the steps and children it called. They are kept as
//! long as the execution, or the iteration of the loop that called the step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use everstep_machine::UndoStart;
use everstep_model::{ErrorCode, Location, Payload, RetryPolicy};
use everstep_store::BoxFuture;
use rustc_hash::FxHashMap;

use super::step_context::StepContext;
use crate::error::{Error, Result, panicked};

/// The input of an undo, before it is decoded.
pub(crate) struct UndoInput {
    pub(crate) start: UndoStart,
    pub(crate) context: StepContext,
}

/// The work of an undo. It is called once per attempt.
pub(crate) type UndoWork = Box<dyn Fn(UndoInput) -> BoxFuture<'static, Result<()>> + Send>;

/// How to undo a step or child.
pub(crate) struct GivenUndo {
    pub(crate) work: UndoWork,
    /// Overrides the step's policy.
    pub(crate) retry: Option<RetryPolicy>,
    /// Overrides the step's timeout.
    pub(crate) timeout: Option<Duration>,
}

impl GivenUndo {
    /// Begins an attempt. A panic becomes its error.
    pub(super) fn begin(&self, input: UndoInput) -> BoxFuture<'static, Result<()>> {
        let begun = catch_unwind(AssertUnwindSafe(|| (self.work)(input)));
        begun.unwrap_or_else(|panic| Box::pin(std::future::ready(Err(panicked("undo", &*panic)))))
    }
}

/// The undos supplied so far, by location.
pub(crate) type Undos = FxHashMap<Location, GivenUndo>;

/// Decodes a recorded payload for an undo.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(what: &str, payload: &Payload) -> Result<T> {
    payload.decode().map_err(|error| {
        let message = format!("the recorded {what} does not fit the type its undo takes: {error}");
        Error::permanent(ErrorCode::Undecodable, message)
    })
}

pub(crate) fn kind_of_undone(undo: &UndoStart) -> &'static str {
    match undo.child {
        None => "step",
        Some(_) => "child",
    }
}

#[cfg(test)]
mod tests;
