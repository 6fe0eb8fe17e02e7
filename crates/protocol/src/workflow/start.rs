//! `POST /workflows`: a run is started, or found.

use everstep_model::{Name, Payload, RunId, RunStatus};
use serde::{Deserialize, Serialize};

/// What to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartRequest {
    /// The workflow.
    #[serde(rename = "type")]
    pub workflow: String,
    /// The run's id; the same id gives the same run. A random one if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it gets; `null` if nothing is given.
    #[serde(default = "Payload::null")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub input: Payload,
    /// A key that leads every start with it to one run of this workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How long the run may take, counted from its creation, such as `2h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// How often the whole function may be retried; the workflow's own setting if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_retries: Option<u32>,
    /// Refuse an id that exists instead of giving that run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

impl StartRequest {
    /// A start with nothing but the necessary.
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

/// A run that exists now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartAnswer {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// Its workflow.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// Which life of it is the latest, from 1.
    pub generation: u32,
    /// What it is doing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// Whether this start created it.
    pub created: bool,
    /// The address of its journal, a stream.
    pub stream: String,
}
