//! The control verbs: what they take, and what they answer.

use everstep_model::{Payload, RunId, RunStatus};
use serde::{Deserialize, Serialize};

/// What every verb takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlRequest {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What cancelling takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelRequest {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether completed steps are undone; they are unless this says otherwise.
    #[serde(default = "yes")]
    pub rollback: bool,
}

pub(super) fn yes() -> bool {
    true
}

/// What restarting takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestartRequest {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The operation to begin again at, with everything before it; the start of the run if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The result that operation is taken to have had, for a step.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
}

/// What forking takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkRequest {
    /// The id of the new run; a random one if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The operation before which the new run begins; where the run is now if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The result that operation is taken to have had, for a step.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Option<Payload>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What skipping a step or giving it a result takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettleRequest {
    /// What the step is taken to have returned.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub result: Payload,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of a request, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EffectWord {
    /// It took effect.
    Done,
    /// It is recorded, and takes effect when somebody executes the run.
    NeedsWorker,
    /// The run is gone, with everything it left; the status is its last.
    Deleted,
    /// There was nothing to do: the run is over.
    Finished,
    /// There was nothing to do: it is paused, or asked to be.
    Paused,
    /// There was nothing to do: it is not paused.
    NotPaused,
    /// There was nothing to do: something is ending it already.
    Ending,
    /// There was nothing to do: it did not end badly.
    NotFailed,
    /// There was nothing to do: its rollback did not fail.
    RollbackDidNotFail,
}

/// What a request did to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlAnswer {
    /// The run; of a fork, the new one.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// Its latest life.
    pub generation: u32,
    /// What it is doing now.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// Whether the request changed anything.
    pub changed: bool,
    /// What became of it.
    pub effect: EffectWord,
    /// The same as a sentence.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_null_is_a_result() {
        let given: RestartRequest =
            serde_json::from_str(r#"{"from":"a:0","result":null}"#).unwrap();
        assert_eq!(given.result, Some(Payload::null()));
        let absent: RestartRequest = serde_json::from_str(r#"{"from":"a:0"}"#).unwrap();
        assert_eq!(absent.result, None);
        assert!(serde_json::from_str::<RestartRequest>(r#"{"form":"a:0"}"#).is_err());
    }
}
