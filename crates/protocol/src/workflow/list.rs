//! `GET /workflows`: lists runs by workflow, status, tag and time, newest first.

use everstep_model::{Name, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// The ID of the run.
    pub id: RunId,
    /// The workflow of the run.
    #[serde(rename = "type")]
    pub workflow: Name,
    /// The version of the workflow.
    pub version: u32,
    /// The latest generation of the run, from 1.
    pub generation: u32,
    /// The status of the run.
    pub status: RunStatus,
    /// Tags to find the run by.
    pub tags: Vec<String>,
    /// The path of the run's journal, which is a stream.
    pub stream: String,
    /// When the run was created.
    pub created_at: Timestamp,
    /// When the status last changed.
    pub updated_at: Timestamp,
}

/// A page of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPage {
    /// Newest first.
    pub runs: Vec<RunSummary>,
    /// The cursor of the next page; `null` on the last page.
    pub cursor: Option<String>,
}
