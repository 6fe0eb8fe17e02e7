//! Requests to an engine, in this process or behind a server: starting runs, finding them, sending to
//! them, waiting for them and reading them. `crate::control` adds the verbs of operators.
//!
//! `port.rs` is the interface of all requests. Everything else is written against it.

mod error;
mod handle;
mod inspection;
mod list;
mod port;
mod records;
mod request;
mod start;

pub(crate) use error::code_of_request;
pub use error::{
    AnswerError, BulkReport, ClientError, ControlError, FindError, ReadError, SendError,
    ServerError, StartError,
};
pub use handle::{Handle, RunHandle, WaitError};
pub use list::{ListRuns, RunPage};
pub use port::Client;
#[cfg(feature = "remote")]
pub(crate) use port::{Asking, End};
pub(crate) use port::{Begun, Listener, Port, Which};
pub use records::Records;
#[cfg(feature = "remote")]
pub(crate) use records::Tail;
pub use request::RequestError;
pub use start::StartRun;
