//! `GET /workflows/{id}`: a run in full.

use everstep_model::{Failure, Name, Payload, RpcId, RunId, RunStatus, StepStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// A run: what it was given, what it did, what it waits for, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunView {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// Its workflow.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// Which life of it this is, from 1.
    pub generation: u32,
    /// What it is doing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What it was started with.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub input: Payload,
    /// What it returned; `null` before it did.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
    /// Why it failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub error: Option<Failure>,
    /// Why its rollback failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub rollback_error: Option<Failure>,
    /// What was said by whoever cancelled or terminated it.
    pub reason: Option<String>,
    /// Its steps, in the order they first appeared.
    pub steps: Vec<StepView>,
    /// What it waits for.
    pub waiting_for: Vec<WaitView>,
    /// The questions that can be answered, oldest first.
    pub rpcs: Vec<RpcView>,
    /// When it must be over.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
    /// The address of its journal, a stream.
    pub stream: String,
    /// When it was created.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub created_at: Timestamp,
    /// When it last changed.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub updated_at: Timestamp,
    /// When it ended.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub completed_at: Option<Timestamp>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepView {
    /// Its place.
    pub id: String,
    /// Its name.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// What it is doing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::StepWord"))]
    pub status: StepStatus,
    /// The highest attempt recorded; 0 if none was.
    pub attempts: u32,
    /// What it returned; `null` before it did, and always for a sensitive step.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
    /// Whether its result is withheld because it is sensitive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Why its last attempt failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub error: Option<Failure>,
    /// When its last attempt began.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub started_at: Option<Timestamp>,
    /// When it was settled.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub completed_at: Option<Timestamp>,
    /// When its next attempt begins.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub next_retry_at: Option<Timestamp>,
}

/// What kind of thing a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaitKind {
    /// An event.
    Event,
    /// The answer to a question.
    Rpc,
    /// The end of another run.
    Child,
    /// The end of a sleep.
    Sleep,
    /// The next attempt of a step.
    Retry,
}

/// One thing a run waits for. A wait for one of several events has an entry for each, with the same `id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitView {
    /// What kind of thing.
    pub kind: WaitKind,
    /// The name of the event, method, workflow, sleep or step.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// The place that waits.
    pub id: String,
    /// Since when, if that is known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub since: Option<Timestamp>,
    /// When it is over, whatever comes.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
}

/// A question that can be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RpcView {
    /// The id under which it is answered.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RpcId,
    /// What is asked.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub method: Name,
    /// About what.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub args: Payload,
    /// When it was asked.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub since: Timestamp,
    /// When the question is withdrawn.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
}
