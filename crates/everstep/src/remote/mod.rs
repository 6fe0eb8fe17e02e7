//! The other side of a server: executing workflows in another process than the engine's, and asking an engine that is elsewhere.
//!
//! ```text
//!   session.rs   registers, and claims runs for as long as it lives; a new one follows when it is over
//!   seat.rs      where an executor sits: the very same executor as in the engine's own process
//!   sending.rs   gathers what executors append, and sends it in as few requests as possible
//!   requests/    everything that can be asked of an engine, asked of a server
//!   clock.rs     the server's clock, as far as it can be known here
//! ```

mod backoff;
mod builder;
mod claiming;
mod clock;
mod convert;
mod heartbeat;
mod inbox;
mod outgoing;
mod requests;
mod seat;
mod sending;
mod session;
mod setup;
mod worker;

pub use builder::{ConnectError, WorkerBuilder};
pub use requests::ClientBuilder;
pub use worker::Worker;
