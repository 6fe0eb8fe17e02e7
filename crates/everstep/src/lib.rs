//! Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
//!
//! A workflow is a type that implements [`Workflow`], or a plain async function. It does its work in steps, sleeps,
//! waits for events and asks people questions through its [`Ctx`]; each result is recorded once, and after a crash the
//! function is replayed from those records. An [`Engine`] runs workflows; `Engine::open(path)` keeps everything in
//! one directory.

mod audit;
mod client;
mod control;
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
mod list;
mod operation;
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
pub use control::{
    BulkRuns, Cancel, ControlRequest, EditStep, FailOperation, Fork, Plain, RestartFrom, SkipStep,
    Verb,
};
pub use ctx::{AnyEvent, Ctx, RunMetadata};
pub use declare::{Declaration, Declare};
pub use engine::{Engine, EngineBuilder, OpenError};
pub use engine_error::{BulkReport, EngineError};
pub use error::{BranchFailure, BranchesFailure, ChildFailure, Error, Result, Source};
pub use event::{Accepts, Event, EventSet, OneOf2, OneOf3, OneOf4, Request};
pub use handle::{Handle, RunHandle, WaitError};
pub use list::{ListRuns, RunPage};
pub use operation::{
    AnyEventWait, AnyEventWithin, BestEffort, Branch, Child, ChildWithin, DetachedChild, Each,
    EventBatch, EventReceived, EventWait, EventWithin, Join, Race, Received, Removed, Repeat,
    Rollback, RpcCall, RpcWithin, Settled, Sleep, Step, StepContext, Switch, TryEvent, TryStep,
    Undo, Until, Won,
};
pub use options::{Options, Retry};
pub use records::Records;
#[cfg(feature = "remote")]
pub use remote::{ClientBuilder, ConnectError, Worker, WorkerBuilder};
pub use request::RequestError;
pub use rpc::Rpc;
pub use start::StartRun;
pub use workflow::Workflow;
pub use workflows::Workflows;

pub use everstep_engine::{
    Because, BulkProgress, Control, Done, Effect, Emission, Emissions, FailureEvent, Grouping,
    Retention, Role, Roles, RunInfo, Sent, Settings,
};
pub use everstep_inspect::{
    Line, Outcome, Overview, Reason, Shape, StepView, Why, timeline, to_json_lines, to_mermaid,
};
pub use everstep_machine::{RemovedKind, StepFailure};
pub use everstep_model::{
    Actor, Backoff, Body, Entry, ErrorCode, Failure, Generation, InvalidDuration, Location, Name,
    Payload, Record, RecordNumber, RpcId, RunId, RunStatus, StepStatus, Timestamp, TraceParent,
    days, entry_from_json, entry_to_json, hours, millis, minutes, parse_duration, record, secs,
};
pub use everstep_store::{Cursor, RunRow, StoreError};
