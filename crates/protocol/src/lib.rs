//! What servers, clients and workers say to each other over HTTP: the types of the wire, and nothing that acts on them.
//!
//! Both ends use these types, so that neither can come to mean something else. PROTOCOL.md is the text they follow.
//! With the feature `client` there is also the one HTTP caller that clients, workers and the command line share.

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
