//! The types that servers, clients and workers exchange over HTTP. Both sides use these types,
//! which follow PROTOCOL.md.
//!
//! The feature `client` adds the HTTP client that Rust clients, workers and the command line share.

pub mod access;
#[cfg(feature = "client")]
pub mod client;
pub mod problem;
#[cfg(feature = "schema")]
mod schema;
pub mod secret;
pub mod worker;
pub mod workflow;

/// The version of the protocol that this crate implements.
pub const PROTOCOL_VERSION: u32 = 1;
/// The header of every response that names the version of the server.
pub const PROTOCOL_HEADER: &str = "everstep-protocol";

pub use problem::Problem;
pub use secret::Secret;
