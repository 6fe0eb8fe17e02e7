//! Declarations of workflows: the types of events and rpcs, and schemas for senders in other languages.

mod declare;
mod event;
mod rpc;

#[cfg(feature = "schema")]
pub(crate) use declare::Declared;
pub(crate) use declare::check;
pub use declare::{Declaration, Declare};
pub use event::{Accepts, Event, EventSet, OneOf2, OneOf3, OneOf4, Request};
pub use rpc::Rpc;
