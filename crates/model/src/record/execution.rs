//! The execution of a run as a whole: its deadline, pauses, divergence and retries.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::failure::Failure;
use crate::location::Location;
use crate::time::Timestamp;

/// The run's deadline passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadlinePassed {
    pub deadline: Timestamp,
}
codec!(DeadlinePassed { deadline });

/// The run is paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    /// Why the engine parked the run; `None` if the pause was requested.
    pub reason: Option<Failure>,
}
codec!(Paused { reason });

/// The run was resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {}
codec!(Resumed {});

/// The code does not match the journal. The run is parked until compatible code is registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diverged {
    /// Where code and journal differ.
    #[serde(rename = "id")]
    pub location: Option<Location>,
    /// What was recorded, what the code did, and what to do.
    pub error: Failure,
}
codec!(Diverged { location, error });

/// The workflow function failed and will run again. Completed operations keep their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionRetried {
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    pub error: Failure,
    /// The time of the next attempt.
    pub retry_at: Timestamp,
}
codec!(ExecutionRetried {
    attempt,
    error,
    retry_at
});
