//! Control of runs: pause, cancel, revive, settle steps, fork and delete, for one run or many.
//!
//! Each verb returns a [`ControlRequest`]: add an actor and a reason, then await it. The result is
//! [`Done`].

mod bulk;
mod operations;
mod request;
mod verbs;

pub use everstep_engine::{Because, BulkProgress, Control, Done, Effect, Grouping, Sent};

pub use crate::client::{BulkReport, ControlError};

pub use bulk::BulkRuns;
pub use request::{Cancel, ControlRequest, Fork, Plain, RestartFrom, SkipStep, Verb};
