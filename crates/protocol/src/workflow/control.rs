//! Requests and responses of the control verbs.

use everstep_model::{Payload, RunId, RunStatus};
use serde::{Deserialize, Serialize};

/// The request of most verbs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlRequest {
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A request to cancel a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelRequest {
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether to undo completed steps; `true` by default.
    #[serde(default = "yes")]
    pub rollback: bool,
}

pub(super) fn yes() -> bool {
    true
}

/// A request to restart a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestartRequest {
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The operation to restart from, keeping everything before it; the beginning of the run by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The result of that operation in the restarted run, if it is a step.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Payload"))]
    pub result: Option<Payload>,
}

/// A request to fork a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkRequest {
    /// The ID of the new run; random by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The operation before which the copy ends; by default everything is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The result of that operation in the new run, if it is a step.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Payload"))]
    pub result: Option<Payload>,
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A request to skip a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkipRequest {
    /// The result of the step; `null` by default.
    #[serde(default = "Payload::null")]
    pub result: Payload,
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A request to set the result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditRequest {
    /// The result of the step.
    pub result: Payload,
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The effect of a control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EffectWord {
    /// The request took effect.
    Done,
    /// The request is recorded and takes effect when a worker executes the run.
    NeedsWorker,
    /// The run was deleted; `status` is its last status.
    Deleted,
    /// No effect: the run has already ended.
    Finished,
    /// No effect: the run is already paused or pausing.
    Paused,
    /// No effect: the run is not paused.
    NotPaused,
    /// No effect: the run is already ending.
    Ending,
    /// No effect: the run has not failed.
    NotFailed,
    /// No effect: the rollback of the run has not failed.
    RollbackDidNotFail,
}

/// The effect of a control request on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlAnswer {
    /// The ID of the run; for a fork, of the new run.
    pub id: RunId,
    /// The latest generation of the run.
    pub generation: u32,
    /// The current status of the run.
    pub status: RunStatus,
    /// Whether the request changed anything.
    pub changed: bool,
    /// The effect of the request.
    pub effect: EffectWord,
    /// The effect as a sentence.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_result_differs_from_an_absent_one() {
        let given: RestartRequest =
            serde_json::from_str(r#"{"from":"a:0","result":null}"#).unwrap();
        assert_eq!(given.result, Some(Payload::null()));
        let absent: RestartRequest = serde_json::from_str(r#"{"from":"a:0"}"#).unwrap();
        assert_eq!(absent.result, None);
        assert!(serde_json::from_str::<RestartRequest>(r#"{"form":"a:0"}"#).is_err());
    }

    // B631
    #[test]
    fn a_skipped_step_has_the_result_null_by_default_and_an_edited_one_none() {
        let skipped: SkipRequest = serde_json::from_str("{}").unwrap();
        assert_eq!(skipped.result, Payload::null());
        assert!(serde_json::from_str::<EditRequest>("{}").is_err());
    }
}
