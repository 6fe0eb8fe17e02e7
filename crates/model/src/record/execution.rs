//! The execution of a run as a whole: its deadline, pauses, divergence and retries.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::failure::Failure;
use crate::location::Location;
use crate::time::Timestamp;

/// The run's deadline passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadlinePassed {
    /// The deadline.
    pub deadline: Timestamp,
}
codec!(DeadlinePassed { deadline });

/// The run is paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    /// Why, if it was not asked for.
    pub reason: Option<Failure>,
}
codec!(Paused { reason });

/// The run goes on after a pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {}
codec!(Resumed {});

/// The code no longer fits the journal; the run is parked until compatible code is registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diverged {
    /// Where the two part.
    #[serde(rename = "id")]
    pub location: Option<Location>,
    /// What was recorded, what the code did, and what to do.
    pub error: Failure,
}
codec!(Diverged { location, error });

/// The workflow function failed and will be run again; completed operations keep their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionRetried {
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// Why.
    pub error: Failure,
    /// When the next attempt begins.
    pub retry_at: Timestamp,
}
codec!(ExecutionRetried {
    attempt,
    error,
    retry_at
});
