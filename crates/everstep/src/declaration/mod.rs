//! Declarations of workflows: the types of their events and rpcs, and the JSON schemas of these
//! types.

mod declare;
mod event;
mod event_set;
mod interface;
mod rpc;
mod schema;

pub use declare::{Declaration, Declare};
pub use event::{Event, Request};
pub use event_set::{EventSet, OneOf2, OneOf3, OneOf4};
pub(crate) use interface::declared;
pub use interface::{Accepts, AcceptsAny, AnyEvent, Asks, Declared, Interface};
pub use rpc::Rpc;
