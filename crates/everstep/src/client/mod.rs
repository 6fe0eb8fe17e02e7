//! Requests to an engine, in this process or behind a server: start runs, find them, send to them,
//! wait for them and read them. `crate::control` adds the control verbs.
//!
//! `port.rs` is the interface of all requests. Everything else is written against it.

mod bulk_report;
mod error;
mod feed;
mod handle;
mod list;
mod port;
mod records;
mod request;
mod rpc;
mod start;

use everstep_store::BoxFuture;

pub use bulk_report::BulkReport;
pub(crate) use error::code_of_request;
pub use error::{
    AnswerError, ClientError, ControlError, FindError, ReadError, SendError, ServerError,
    StartError, WaitError,
};
pub use feed::FeedReader;
#[cfg(feature = "remote")]
pub(crate) use feed::{FeedPage, FeedSource};
pub use handle::{Handle, RunHandle};
pub use list::{ListRuns, RunPage};
pub use port::Client;
#[cfg(any(feature = "remote", feature = "testing"))]
pub(crate) use port::StartedRun;
pub(crate) use port::{BulkTarget, Command, Port, ProgressListener};
pub use records::Records;
#[cfg(feature = "remote")]
pub(crate) use records::Tail;
pub use request::RequestError;
pub use rpc::{NextRpcError, RpcHandle};
pub use start::StartRun;

/// The future of a request.
pub(crate) type Response<'a, T, E> = BoxFuture<'a, Result<T, E>>;
