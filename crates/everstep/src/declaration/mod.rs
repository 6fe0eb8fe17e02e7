//! What a workflow declares: the types of its events and rpcs, and schemas for senders that are not
//! written in Rust.

mod declare;
mod event;
mod rpc;

pub use declare::{Declaration, Declare};
pub use event::{Accepts, Event, EventSet, OneOf2, OneOf3, OneOf4, Request};
pub use rpc::Rpc;
