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

pub use problem::Problem;
pub use secret::Secret;
