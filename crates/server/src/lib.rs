//! HTTP for Everstep: the workflow API, the worker protocol, and a Durable Streams server that also
//! serves journals. [`router`] mounts under any prefix of an axum application. [`serve`] runs it on
//! a listener with the limits that a public address needs.
//!
//! Decisions belong to the engine: a handler parses a request, calls one function of
//! [`everstep_engine`], and writes the response.

#[cfg(test)]
mod access_tests;
mod actor;
mod admission;
mod around;
mod auth;
mod body;
mod body_budget;
mod compression;
mod connections;
mod cors;
mod failure;
#[cfg(doctest)]
mod guides;
mod journals;
mod json;
mod key_routes;
mod openapi;
mod options;
mod origins;
mod parameters;
mod permits;
mod read_turns;
mod response;
mod rfc3339;
mod route;
mod router;
mod routes;
mod run_address;
mod services;
mod status;
mod stream_protocol;
mod stream_routes;
mod streams;
mod subscriptions;
mod telemetry;
mod workers;
mod workflows;

pub use auth::{Caller, KeyError, Keys, Limits};
pub use connections::{Connections, Tls, TlsError, serve};
pub use options::{Access, Options};
pub use origins::Origins;
pub use router::{router, workers_router};
pub use subscriptions::check_webhook_url;
pub use telemetry::{TraceExporter, TraceOptions};

#[cfg(test)]
mod fuzz_tests;
