//! `GET /workflows/{id}`: a run in detail.

use everstep_model::record::ForkReason;
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
    /// Whether completed steps were undone before the run ended.
    #[serde(default)]
    pub rolled_back: bool,
    /// The progress of the rollback, while the run rolls back.
    #[serde(default)]
    pub rollback: Option<RollbackView>,
    /// When the run passed its point of no return. A rollback runs only internal undos from then
    /// on.
    #[serde(default)]
    pub no_return_at: Option<Timestamp>,
    /// The pass of the workflow function, from 1.
    #[serde(default)]
    pub execution_attempt: u32,
    /// How often the whole function is retried, if the start set it; otherwise the worker decides.
    #[serde(default)]
    pub execution_retries: Option<u32>,
    /// The journal that this one was copied from, for a fork and a later generation.
    #[serde(default)]
    pub forked_from: Option<OriginView>,
    /// The steps, in the order of their first appearance.
    pub steps: Vec<StepView>,
    /// Where the next page of steps begins; `null` if these are the last ones.
    #[serde(default)]
    pub steps_cursor: Option<String>,
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

/// The journal that a run or a later generation was copied from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OriginView {
    /// The run that was copied.
    pub run: RunId,
    /// The generation that was copied.
    pub generation: u32,
    /// Why it was copied.
    pub reason: ForkReason,
    /// The operation before which the copy ends, if the request named one.
    pub at: Option<String>,
}

/// The progress of a rollback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RollbackView {
    /// The number of steps that are undone.
    pub undone: u32,
    /// The step whose undo is in flight or will be retried; `null` between two undos.
    pub step: Option<String>,
    /// The last attempt of that undo, from 1; 0 between two undos.
    pub attempt: u32,
    /// When that attempt began.
    pub since: Option<Timestamp>,
    /// Why that attempt failed.
    pub error: Option<Failure>,
    /// When the next attempt begins.
    pub retry_at: Option<Timestamp>,
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
    /// When the first attempt began.
    #[serde(default)]
    pub first_started_at: Option<Timestamp>,
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
