//! `GET /workflows`: runs by workflow, status, tag and time, newest first.

use everstep_model::{Name, RunId, RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// Its workflow.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// Which life of it is the latest, from 1.
    pub generation: u32,
    /// What it is doing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The address of its journal, a stream.
    pub stream: String,
    /// When it was created.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub created_at: Timestamp,
    /// When its status changed last.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub updated_at: Timestamp,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPage {
    /// The runs, newest first.
    pub runs: Vec<RunSummary>,
    /// Where to go on; `null` at the end.
    pub cursor: Option<String>,
}
