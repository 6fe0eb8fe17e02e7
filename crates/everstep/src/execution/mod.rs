//! Executing runs: what the code and its executor share, the executor itself, and the second look of development mode.

mod cancellation;
mod conclusion;
mod done;
mod executor;
mod feed;
mod intake;
mod rollback;
mod root;
mod shared;
mod turns;
mod undos;
mod verify;
mod writing;

pub(crate) use cancellation::Cancellation;
#[cfg(feature = "testing")]
pub(crate) use conclusion::run_failure;
pub(crate) use executor::Executor;
pub(crate) use shared::{Mocks, Shared, SharedParts};
pub(crate) use undos::{GivenUndo, UndoInput, UndoWork, decode as decode_for_undo};
#[cfg(feature = "testing")]
pub(crate) use verify::{Verified, verify};
