//! A small HTTP client for Everstep servers, used by Rust clients, workers and the command line.
//!
//! ```text
//!   Connection  URL, key, JSON encoding, problem details as errors
//!       │
//!   Transport   one request, one response: HttpTransport over sockets,
//!               or a replacement in tests and simulations
//! ```

mod call;
mod connection;
mod error;
mod http_transport;
pub mod tls;
mod transport;

pub use call::{Answer, Call, segment};
pub use connection::{Connection, InvalidUrl};
pub use error::CallError;
pub use http_transport::{HttpOptions, HttpTransport};
pub use transport::{RequestTimeout, Transport, TransportError};

#[cfg(test)]
mod tests;
