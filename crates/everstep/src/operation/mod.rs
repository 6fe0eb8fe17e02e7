//! The operations of [`crate::Ctx`] as futures that are configured like builders and awaited directly.
//!
//! Each is called when it is first polled, stays pending until its record comes back from the journal, and is reported
//! as dropped if the code gives it up before that.

mod event;
mod handle;
mod removed;
mod repeat;
mod rpc;
mod sleep;
mod step;
mod step_failure;

pub use event::{EventReceived, EventWait, EventWithin, Received};
pub use removed::Removed;
pub use repeat::{Repeat, Until};
pub use rpc::{RpcCall, RpcWithin};
pub use sleep::Sleep;
pub use step::{BestEffort, Step, StepContext, TryStep};
pub(crate) use step_failure::panic_text;

pub(crate) use step_failure::payload_error_code;
