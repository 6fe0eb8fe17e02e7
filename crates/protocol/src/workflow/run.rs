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
    pub id: RunId,
    /// The workflow of the run.
    #[serde(rename = "type")]
    pub workflow: Name,
    /// The version of the workflow.
    pub version: u32,
    /// The generation, from 1.
    pub generation: u32,
    /// The status of the run.
    pub status: RunStatus,
    /// Tags to find the run by.
    pub tags: Vec<String>,
    /// The input of the run.
    pub input: Payload,
    /// The result; `null` until the run completes.
    #[cfg_attr(feature = "schema", schemars(with = "Payload"))]
    pub result: Option<Payload>,
    /// Why the run failed.
    pub error: Option<Failure>,
    /// Why the rollback failed.
    pub rollback_error: Option<Failure>,
    /// The reason given when the run was cancelled or terminated.
    pub reason: Option<String>,
    /// The steps, in the order of their first appearance.
    pub steps: Vec<StepView>,
    /// What the run waits for.
    pub waiting_for: Vec<WaitView>,
    /// The open rpcs, oldest first.
    pub rpcs: Vec<RpcView>,
    /// The deadline of the run.
    pub deadline: Option<Timestamp>,
    /// The path of the run's journal, which is a stream.
    pub stream: String,
    /// When the run was created.
    pub created_at: Timestamp,
    /// When the run last changed.
    pub updated_at: Timestamp,
    /// When the run ended.
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
    pub name: Name,
    /// The status of the step.
    pub status: StepStatus,
    /// The highest recorded attempt; 0 if there is none.
    pub attempts: u32,
    /// The result; `null` until the step completes, and always for a sensitive step.
    #[cfg_attr(feature = "schema", schemars(with = "Payload"))]
    pub result: Option<Payload>,
    /// Whether the result is hidden because it is sensitive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// Why the last attempt failed.
    pub error: Option<Failure>,
    /// When the last attempt began.
    pub started_at: Option<Timestamp>,
    /// When the step ended.
    pub completed_at: Option<Timestamp>,
    /// When the next attempt begins.
    pub next_retry_at: Option<Timestamp>,
}

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaitKind {
    /// An event.
    Event,
    /// An answer to an rpc.
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
    /// The name of the event, rpc, workflow, sleep or step.
    pub name: Name,
    /// The location of the waiting operation.
    pub id: String,
    /// When the wait began, if known.
    pub since: Option<Timestamp>,
    /// When the wait ends at the latest.
    pub deadline: Option<Timestamp>,
}

/// An open rpc.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RpcView {
    /// The ID to answer it by.
    pub id: RpcId,
    /// The method of the rpc.
    pub method: Name,
    /// The arguments of the rpc.
    pub args: Payload,
    /// When the rpc was called.
    pub since: Timestamp,
    /// When the rpc expires.
    pub deadline: Option<Timestamp>,
}
