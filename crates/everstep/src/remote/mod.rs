//! Workers and clients of a server in another process.
//!
//! - Workers: `worker.rs` opens one session after another, `claiming.rs` runs a session
//!   (`session.rs`). `seat.rs` connects an executor to its session: `inbox.rs` delivers messages to
//!   it, and its appends are queued in `outgoing.rs` and sent by `sending.rs`. `clock.rs` is the
//!   server's clock.
//! - Clients: `requests/` implements all requests with the HTTP API.
//! - `builder.rs` configures both.

mod backoff;
mod builder;
mod claiming;
mod clock;
mod convert;
mod inbox;
mod outgoing;
mod requests;
mod seat;
mod sending;
mod session;
mod setup;
mod worker;

pub use builder::{ClientBuilder, ConnectError, WorkerBuilder};
pub use worker::Worker;
