//! HTTP for Everstep. Today it is a Durable Streams server: [`router`] mounts under any prefix of an axum application, and
//! [`serve`] runs it on a listener with the limits that a public address needs.
//!
//! Nothing is decided here that the engine could decide: a handler reads a request, calls one verb of
//! [`everstep_engine::streams`], and writes the answer.

#[cfg(doctest)]
mod guides;
mod options;
mod origins;
mod router;
mod serve;
mod streams;
mod subscriptions;
mod workers;

pub use options::Options;
pub use origins::Origins;
pub use router::router;
pub use serve::serve;

#[cfg(test)]
mod fuzz_tests;
