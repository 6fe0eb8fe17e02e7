//! What servers, clients and workers say to each other over HTTP: the types of the wire, and nothing that acts on them.
//!
//! Both ends use these types, so that neither can come to mean something else. PROTOCOL.md is the text they follow.

pub mod problem;

pub use problem::Problem;
