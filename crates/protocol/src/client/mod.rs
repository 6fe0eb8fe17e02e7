//! Speaking to a server: one small HTTP caller, used by clients, workers and the command line.
//!
//! ```text
//!   Connection  address, key, JSON in and out, problems as errors
//!       │
//!   Transport   one request, one answer: HttpTransport over sockets,
//!               or whatever a test or a simulation puts in its place
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
pub use transport::{Patience, Transport, TransportError};

#[cfg(test)]
mod tests;
