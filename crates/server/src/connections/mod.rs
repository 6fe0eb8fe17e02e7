//! Connections: accepts and limits them, and runs a router on them over HTTP/1.1 and HTTP/2, with
//! or without TLS. Requests and their callers are not known here.

mod closing;
mod connection;
mod descriptors;
mod http2;
mod limits;
mod progress;
mod serve;
mod stalling;
mod table;
mod tls;

pub(crate) use closing::Closing;
pub(crate) use connection::Secured;
pub use limits::Connections;
pub use serve::serve;
pub(crate) use table::OpenConnection;
pub use tls::{Tls, TlsError};
