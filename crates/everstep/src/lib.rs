//! Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
//!
//! A workflow is a type that implements [`Workflow`], or a plain async function. It does its work in steps, sleeps,
//! waits for events and asks people questions through its [`Ctx`]; each result is recorded once, and after a crash the
//! function is replayed from those records. An [`Engine`] runs workflows; `Engine::open(path)` keeps everything in
//! one directory.

mod client;
mod ctx;
mod declare;
mod definition;
mod engine;
mod error;
mod event;
mod execution;
#[cfg(doctest)]
mod guides;
mod handle;
mod operation;
mod options;
mod rpc;
mod start;
#[cfg(feature = "testing")]
pub mod testing;
mod worker;
mod workflow;

pub use client::{ListRuns, RunPage};
pub use ctx::{AnyEvent, Ctx, RunMetadata};
pub use declare::{Declaration, Declare};
pub use engine::{Engine, EngineBuilder, OpenError};
pub use error::{Error, Result};
pub use event::{Accepts, Event};
pub use handle::{Handle, RunHandle, WaitError};
pub use operation::{
    BestEffort, EventReceived, EventWait, EventWithin, Received, Removed, Repeat, RpcCall,
    RpcWithin, Sleep, Step, StepContext, TryStep, Until,
};
pub use options::{Options, Retry};
pub use rpc::Rpc;
pub use start::StartRun;
pub use workflow::Workflow;

pub use everstep_engine::{Emission, Emissions, EngineError, Records, RunInfo, Sent, Settings};
pub use everstep_machine::{Overview, Reason, RemovedKind, StepFailure, StepView, Why};
pub use everstep_model::{
    Backoff, Body, Entry, ErrorCode, Failure, Generation, InvalidDuration, Location, Name, Payload,
    Record, RecordNumber, RpcId, RunId, RunStatus, StepStatus, Timestamp, days, entry_from_json,
    entry_to_json, hours, millis, minutes, parse_duration, record, secs,
};
pub use everstep_store::{Cursor, RunRow, StoreError};
