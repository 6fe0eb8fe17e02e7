//! HTTP for Everstep. Today it is a Durable Streams server: [`router`] mounts under any prefix of an axum application, and
//! [`serve`] runs it on a listener with the limits that a public address needs.
//!
//! Nothing is decided here that the engine could decide: a handler reads a request, calls one verb of
//! [`everstep_engine::streams`], and writes the answer.

mod auth;
#[cfg(doctest)]
mod guides;
mod options;
mod origins;
mod router;
mod routes;
mod serve;
mod stalling;
mod streams;
mod subscriptions;
mod tls;

pub use auth::{Caller, KeyError, Keys};
pub use options::{Access, Options};
pub use origins::Origins;
pub use router::router;
pub use serve::{Connections, serve};
pub use tls::{Tls, TlsError};

#[cfg(test)]
mod fuzz_tests;
