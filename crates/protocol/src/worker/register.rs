//! `POST /v1/workers`: a worker says what it can execute.

use everstep_model::{Description, Name, Timestamp};
use serde::{Deserialize, Serialize};

/// Who comes, and what they can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisterRequest {
    /// What people call it.
    pub worker: String,
    /// Runs it executes at once; those that wait for something do not count.
    pub slots: u32,
    /// What it can execute.
    pub workflows: Vec<OfferedWorkflow>,
}

/// A workflow that a worker can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedWorkflow {
    /// The workflow.
    pub name: Name,
    /// The first and the last of the versions whose runs its code can execute.
    pub versions: [u32; 2],
    /// What others must know of it.
    #[serde(default)]
    pub description: Description,
}

/// The session that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisterAnswer {
    /// The session, as it is named in addresses.
    pub session: String,
    /// Milliseconds without any request after which the session is over.
    pub time_to_live: u64,
    /// Milliseconds that a claim waits at most, and after which a worker that does not claim sends a heartbeat.
    pub heartbeat_every: u64,
    /// The server's clock.
    pub now: Timestamp,
}
