//! `POST /v1/workers`: registers a worker and the workflows it can execute.

use everstep_model::{Description, Name, Timestamp};
use serde::{Deserialize, Serialize};

/// A worker and the workflows it can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterRequest {
    /// Name of the worker, for display.
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = super::WORKER_NAME_CHARS_MAX))
    )]
    pub worker: String,
    /// Name and version of its SDK, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = super::WORKER_NAME_CHARS_MAX))
    )]
    pub sdk: Option<String>,
    /// The first and the last version of the protocol that it can use.
    #[serde(default = "first_version")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1))))]
    pub protocol: [u32; 2],
    /// Number of runs to execute at the same time, not counting suspended ones.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::SLOTS_MAX)))]
    pub slots: u32,
    /// The workflows it can execute.
    #[cfg_attr(
        feature = "schema",
        schemars(length(min = 1, max = super::WORKFLOWS_MAX))
    )]
    pub workflows: Vec<OfferedWorkflow>,
}

/// The versions of a worker that names none.
fn first_version() -> [u32; 2] {
    [1, 1]
}

/// A workflow that a worker can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferedWorkflow {
    /// The name of the workflow.
    pub name: Name,
    /// The lowest and the highest version whose runs the code can execute.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1))))]
    pub versions: [u32; 2],
    /// The schemas of the workflow, for validation by the server.
    #[serde(default)]
    pub description: Description,
}

/// A new session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterAnswer {
    /// The ID of the session, used in paths.
    pub session: String,
    /// The version of the protocol that the session uses.
    #[serde(default = "version_one")]
    pub protocol: u32,
    /// Name and version of the server, for display.
    #[serde(default)]
    pub server: String,
    /// The session expires after this many milliseconds without a request.
    pub time_to_live: u64,
    /// Maximum duration of a claim in milliseconds. A worker that does not claim sends a heartbeat
    /// at this interval.
    pub heartbeat_every: u64,
    /// Whether the worker executes runs in development mode: each execution is replayed a second
    /// time, and a run whose code behaves differently then is parked as `diverged`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub development: bool,
    /// The server's clock.
    pub now: Timestamp,
}

/// The version of a server that names none.
fn version_one() -> u32 {
    1
}
