//! Executes runs: a shell around [`everstep_driver::Driver`] that polls the workflow function and
//! performs the driver's actions.
//!
//! `executor.rs` is the task of one run. While it polls the code, the code reaches the driver
//! through `current.rs`; operations use `Shared::with` for that.

mod attempt_timer;
mod code;
mod current;
mod executor;
mod root;
mod shared;
mod slots;
mod step_context;
mod undo_attempt;
mod undos;
#[cfg(feature = "testing")]
mod verify;

pub(crate) use attempt_timer::AttemptTimer;
pub(crate) use executor::Executor;
pub(crate) use root::WorkflowCode;
pub use shared::RunMetadata;
pub(crate) use shared::{Mocks, Shared, SharedParts};
pub use step_context::StepContext;
pub(crate) use step_context::UndoSlot;
pub(crate) use undos::{GivenUndo, UndoInput, UndoWork, decode as decode_for_undo, kind_of_undone};
#[cfg(feature = "testing")]
pub(crate) use verify::verify;
