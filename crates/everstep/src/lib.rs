//! Durable workflows: ordinary async functions that survive crashes, deploys and months of waiting.
//!
//! A workflow is a type that implements [`Workflow`], or a plain async function. Through its
//! [`Ctx`] it executes steps, sleeps, waits for events and makes rpcs. Each result is recorded
//! once, and after a crash the function is replayed from those records. An [`Engine`] executes
//! workflows; `Engine::open(path)` stores everything in one directory.
//!
//! Most programs need only the names at the root. The modules contain the types of operations
//! ([`operation`]), control requests ([`control`]), records ([`journal`]), readers ([`inspect`])
//! and errors ([`errors`]).

/// Implements `Debug` as the type and one of its fields, such as its name.
macro_rules! debug_by_name {
    (impl<$($parameter:ident),*> $type:ident<$($argument:tt),*>: $($name:tt).+) => {
        impl<$($parameter),*> std::fmt::Debug for $type<$($argument),*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($type), self.$($name).+)
            }
        }
    };
}

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
mod interface_macro;
pub mod journal;
pub mod operation;
mod options;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "testing")]
pub mod testing;
mod workflow;

pub use client::{
    Client, FeedReader, Handle, RpcHandle, RunHandle, StartError, StartRun, WaitError,
};
pub use ctx::Ctx;
pub use declaration::{Accepts, AcceptsAny, AnyEvent, Asks, Event, Interface, Request, Rpc};
#[doc(hidden)]
pub use declaration::{Declare, Declared};
pub use engine::{Engine, EngineBuilder};
pub use error::{Error, Result};
pub use options::{Options, Retry};
#[cfg(feature = "remote")]
pub use remote::{ClientBuilder, Worker, WorkerBuilder};
pub use workflow::{Workflow, Workflows};

pub use everstep_engine::streams::FeedRecord;
pub use everstep_engine::{Retention, Role, Roles, Settings, Stats};
pub use everstep_model::{
    ErrorCode, Failure, Name, Payload, RecordFeed, RunId, RunStatus, days, hours, millis, minutes,
    parse_duration, secs,
};
pub use everstep_store::{Bus, Store, StoreError};
/// Derives JSON schemas of inputs, outputs, events and rpcs: `use everstep::schemars::{self,
/// JsonSchema}` and `#[derive(JsonSchema)]` need no dependency of their own.
pub use schemars;
