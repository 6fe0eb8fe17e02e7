//! `POST /workflows`: starts a run, or finds the existing run with the same ID.

use everstep_model::{Name, Payload, RunId, RunStatus};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A request to start a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartRequest {
    /// The workflow to start.
    #[serde(rename = "type")]
    pub workflow: String,
    /// The ID of the run; random by default. Starting an existing ID returns the existing run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The input; `null` by default.
    #[serde(default = "Payload::null")]
    pub input: Payload,
    /// All starts of this workflow with the same key refer to one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Tags to find the run by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Maximum duration of the run, counted from its creation, such as `2h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Maximum number of retries of the whole function; by default the workflow's setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_retries: Option<u32>,
    /// Whether to reject an ID that exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

impl StartRequest {
    /// Creates a request without optional fields.
    #[must_use]
    pub fn new(workflow: impl Into<String>, input: Payload) -> Self {
        Self {
            workflow: workflow.into(),
            id: None,
            input,
            idempotency_key: None,
            tags: Vec::new(),
            deadline: None,
            execution_retries: None,
            strict: false,
        }
    }
}

/// The response to a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartAnswer {
    /// The ID of the run.
    pub id: RunId,
    /// The workflow of the run.
    #[serde(rename = "type")]
    pub workflow: Name,
    /// The latest generation of the run, from 1.
    pub generation: u32,
    /// The status of the run.
    pub status: RunStatus,
    /// Whether this request created the run.
    pub created: bool,
    /// The path of the run's journal, which is a stream.
    pub stream: String,
}

/// The maximum number of runs in a batch.
pub const STARTS_MAX: usize = 1_000;

/// Runs to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartBatch {
    /// At most 1,000 runs.
    pub runs: Vec<StartRequest>,
}

/// The outcome of a batch, in the order of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StartBatchAnswer {
    /// The outcome for each run.
    pub runs: Vec<BatchStart>,
}

/// The outcome of one start of a batch: `started` or `problem`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BatchStart {
    /// The run that was started, or existed already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<StartAnswer>,
    /// Why the run was not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}
