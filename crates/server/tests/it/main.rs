//! Tests of the server through its router, and over sockets where connections matter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod bodies;
mod clients;
mod compressing;
mod connecting;
mod development;
mod feeds;
#[allow(dead_code, reason = "other tests use the rest of it")]
mod frames;
mod hostile;
mod http2;
mod in_memory;
mod journals;
mod limited_keys;
mod listening;
mod mounting;
mod protocol_version;
mod revocation;
mod secured;
mod stream_tokens;
mod subscribing;
mod support;
mod telemetry;
mod token_views;
mod tokens;
mod tracing_runs;
mod waiting;
mod work_keys;
mod workflows;
