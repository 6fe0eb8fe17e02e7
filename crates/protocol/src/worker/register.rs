//! `POST /v1/workers`: a worker says what it can execute.

use everstep_model::{Description, Name, Timestamp};
use serde::{Deserialize, Serialize};

/// Who comes, and what they can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterRequest {
    /// What people call it.
    #[cfg_attr(
        feature = "schema",
        schemars(length(max = super::WORKER_NAME_CHARS_MAX))
    )]
    pub worker: String,
    /// Runs it executes at once; those that wait for something do not count.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::SLOTS_MAX)))]
    pub slots: u32,
    /// What it can execute.
    #[cfg_attr(
        feature = "schema",
        schemars(length(min = 1, max = super::WORKFLOWS_MAX))
    )]
    pub workflows: Vec<OfferedWorkflow>,
}

/// A workflow that a worker can execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferedWorkflow {
    /// The workflow.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// The first and the last of the versions whose runs its code can execute.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1))))]
    pub versions: [u32; 2],
    /// What others must know of it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::DescriptionShape"))]
    pub description: Description,
}

/// The session that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegisterAnswer {
    /// The session, as it is named in addresses.
    pub session: String,
    /// Milliseconds without any request after which the session is over.
    pub time_to_live: u64,
    /// Milliseconds that a claim waits at most, and after which a worker that does not claim sends a heartbeat.
    pub heartbeat_every: u64,
    /// The server's clock.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub now: Timestamp,
}
