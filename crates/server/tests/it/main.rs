//! The server through its router, without a network.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]

mod hostile;
mod mounting;
mod subscribing;
mod support;
mod tracing_runs;
