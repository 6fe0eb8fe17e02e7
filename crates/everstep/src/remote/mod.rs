//! Executing workflows in another process than the engine's, over HTTP.
//!
//! ```text
//!   session.rs   registers, and claims runs for as long as it lives; a new one follows when it is over
//!   seat.rs      where an executor sits: the very same executor as in the engine's own process
//!   sending.rs   gathers what executors append, and sends it in as few requests as possible
//!   clock.rs     the server's clock, as far as it can be known here
//! ```

mod backoff;
mod builder;
mod clock;
mod convert;
mod inbox;
mod seat;
mod sending;
mod session;
mod worker;

pub use builder::{ConnectError, WorkerBuilder};
pub use worker::Worker;
