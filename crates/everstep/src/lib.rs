//! Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
//!
//! A workflow is a type that implements [`Workflow`], or a plain async function. It does its work in steps, sleeps,
//! waits for events and asks people questions through its [`Ctx`]; each result is recorded once, and after a crash the
//! function is replayed from those records. An [`Engine`] runs workflows; `Engine::open(path)` keeps everything in
//! one directory.

mod audit;
mod client;
pub mod control;
mod ctx;
mod declare;
mod definition;
mod engine;
mod engine_error;
mod error;
mod event;
mod execution;
#[cfg(doctest)]
mod guides;
mod handle;
pub mod inspect;
pub mod journal;
mod list;
pub mod operation;
mod options;
mod port;
mod records;
#[cfg(feature = "remote")]
mod remote;
mod request;
mod rpc;
mod start;
#[cfg(feature = "testing")]
pub mod testing;
mod worker;
mod workflow;
mod workflows;

pub use client::Client;
pub use ctx::{AnyEvent, Ctx, RunMetadata};
pub use declare::{Declaration, Declare};
pub use engine::{Engine, EngineBuilder, OpenError};
pub use engine_error::EngineError;
pub use error::{Error, Result};
pub use event::{Accepts, Event, Request};
pub use handle::{Handle, RunHandle, WaitError};
pub use options::{Options, Retry};
#[cfg(feature = "remote")]
pub use remote::{ClientBuilder, ConnectError, Worker, WorkerBuilder};
pub use request::RequestError;
pub use rpc::Rpc;
pub use start::StartRun;
pub use workflow::Workflow;
pub use workflows::Workflows;

pub use everstep_engine::{Retention, Role, Roles, Settings};
pub use everstep_model::{
    Backoff, ErrorCode, Failure, InvalidDuration, Name, Payload, RunId, RunStatus, days, hours,
    millis, minutes, parse_duration, secs,
};
pub use everstep_store::StoreError;
