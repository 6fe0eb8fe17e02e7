//! HTTP for Everstep: a Durable Streams server whose streams include the journals, and the workflow API. [`router`] mounts under
//! any prefix of an axum application, and [`serve`] runs it on a listener with the limits that a public address needs.
//!
//! Nothing is decided here that the engine could decide: a handler reads a request, calls one verb of
//! [`everstep_engine`], and writes the answer.

mod auth;
mod compression;
mod failure;
#[cfg(doctest)]
mod guides;
mod journals;
mod json;
mod openapi;
mod options;
mod origins;
mod place;
mod router;
mod routes;
mod serve;
mod stalling;
mod streams;
mod subscriptions;
mod telemetry;
mod tls;
mod workers;
mod workflows;

pub use auth::{Caller, KeyError, Keys};
pub use options::{Access, Options};
pub use origins::Origins;
pub use router::{router, workers_router};
pub use serve::{Connections, serve};
pub use telemetry::{TraceExporter, TraceOptions};
pub use tls::{Tls, TlsError};

#[cfg(test)]
mod fuzz_tests;
