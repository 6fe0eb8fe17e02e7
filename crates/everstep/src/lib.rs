//! Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
//!
//! A workflow is a type that implements [`Workflow`], or a plain async function. It does its work in steps, sleeps,
//! waits for events and asks people questions through its [`Ctx`]; each result is recorded once, and after a crash the
//! function is replayed from those records. An [`Engine`] runs workflows; `Engine::open(path)` keeps everything in
//! one directory.

mod client;
pub mod control;
mod ctx;
mod declaration;
mod engine;
mod error;
pub mod errors;
mod execution;
#[cfg(doctest)]
mod guides;
pub mod inspect;
pub mod journal;
pub mod operation;
mod options;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "testing")]
pub mod testing;
mod workflow;

pub use client::{
    AnswerError, Client, Handle, ReadError, RequestError, RunHandle, SendError, StartError,
    StartRun, WaitError,
};
pub use ctx::{AnyEvent, Ctx, RunMetadata};
pub use declaration::{Accepts, Declaration, Declare, Event, Request, Rpc};
pub use engine::{Engine, EngineBuilder, OpenError};
pub use error::{Error, Result};
pub use options::{Options, Retry};
#[cfg(feature = "remote")]
pub use remote::{ClientBuilder, ConnectError, Worker, WorkerBuilder};
pub use workflow::{Workflow, Workflows};

pub use everstep_engine::{Retention, Role, Roles, Settings};
pub use everstep_model::{
    ErrorCode, Failure, Name, Payload, RunId, RunStatus, days, hours, millis, minutes,
    parse_duration, secs,
};
