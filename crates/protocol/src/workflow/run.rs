//! `GET /workflows/{id}`: a run in detail.

use everstep_model::{Failure, Name, Payload, RpcId, RunId, RunStatus, StepStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// A run: its input, steps, waits and result.
// Large type: it is one document on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunView {
    /// The ID of the run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// The workflow of the run.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The version of the workflow.
    pub version: u32,
    /// The generation, from 1.
    pub generation: u32,
    /// The status of the run.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// Tags to find the run by.
    pub tags: Vec<String>,
    /// The input of the run.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub input: Payload,
    /// The result; `null` until the run completes.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
    /// Why the run failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub error: Option<Failure>,
    /// Why the rollback failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub rollback_error: Option<Failure>,
    /// The reason given when the run was cancelled or terminated.
    pub reason: Option<String>,
    /// The steps, in the order of their first appearance.
    pub steps: Vec<StepView>,
    /// What the run waits for.
    pub waiting_for: Vec<WaitView>,
    /// The open questions, oldest first.
    pub rpcs: Vec<RpcView>,
    /// The deadline of the run.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
    /// The path of the run's journal, which is a stream.
    pub stream: String,
    /// When the run was created.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub created_at: Timestamp,
    /// When the run last changed.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub updated_at: Timestamp,
    /// When the run ended.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub completed_at: Option<Timestamp>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepView {
    /// The location of the step.
    pub id: String,
    /// The name of the step.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// The status of the step.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::StepWord"))]
    pub status: StepStatus,
    /// The highest recorded attempt; 0 if there is none.
    pub attempts: u32,
    /// The result; `null` until the step completes, and always for a sensitive step.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
    /// Whether the result is hidden because it is sensitive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Why the last attempt failed.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::FailureShape>")
    )]
    pub error: Option<Failure>,
    /// When the last attempt began.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub started_at: Option<Timestamp>,
    /// When the step ended.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub completed_at: Option<Timestamp>,
    /// When the next attempt begins.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub next_retry_at: Option<Timestamp>,
}

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaitKind {
    /// An event.
    Event,
    /// An answer to a question.
    Rpc,
    /// The end of a child run.
    Child,
    /// The end of a sleep.
    Sleep,
    /// The next attempt of a step.
    Retry,
}

/// A wait of a run. A wait for one of several events has one entry per event, with the same `id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitView {
    /// The kind of the wait.
    pub kind: WaitKind,
    /// The name of the event, question, workflow, sleep or step.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Name,
    /// The location of the waiting operation.
    pub id: String,
    /// When the wait began, if known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub since: Option<Timestamp>,
    /// When the wait ends at the latest.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
}

/// An open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RpcView {
    /// The ID to answer it by.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RpcId,
    /// The method of the question.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub method: Name,
    /// The arguments of the question.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub args: Payload,
    /// When the question was asked.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub since: Timestamp,
    /// When the question expires.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
}
