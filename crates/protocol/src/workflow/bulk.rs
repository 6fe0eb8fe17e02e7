//! `POST /bulk`: one verb for many runs, each reported on.

use everstep_model::{RunId, Verb};
use serde::{Deserialize, Serialize};

use super::control::{ControlAnswer, yes};
use crate::problem::Problem;

/// Which runs; an empty filter means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filter {
    /// Only these workflows.
    #[serde(rename = "type", default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// Only these statuses; aliases are understood.
    #[serde(rename = "status", default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<String>,
    /// Only runs with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only runs created at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_from: Option<String>,
    /// Only runs created before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_before: Option<String>,
}

/// What to do with which runs: `ids` or `filter`, not both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkRequest {
    /// What to do.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::VerbWord"))]
    pub verb: Verb,
    /// With these runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// With every run that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of cancelling, whether completed steps are undone.
    #[serde(default = "yes")]
    pub rollback: bool,
}

/// How far a bulk request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkProgress {
    /// Runs that are dealt with.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// Of those dealt with, how many were refused or failed.
    pub refused: usize,
}

/// What became of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkRun {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// What was done, if it was not refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<ControlAnswer>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// What a bulk request did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkReport {
    /// How many runs there were.
    pub total: usize,
    /// How many were changed.
    pub changed: usize,
    /// How many were refused.
    pub refused: usize,
    /// Each of them, in the order they were listed or named.
    pub runs: Vec<BulkRun>,
}

/// One line of an answer that tells of progress: `application/x-ndjson`, the last line is the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BulkLine {
    /// How far it is.
    Progress(BulkProgress),
    /// What it did.
    Report(BulkReport),
}
