//! `POST /bulk`: applies one verb to many runs and reports on each.

use everstep_model::{RunId, Verb};
use serde::{Deserialize, Serialize};

use super::control::{ControlAnswer, yes};
use crate::problem::Problem;

/// A filter over runs. An empty filter matches all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filter {
    /// Filter by workflow.
    #[serde(rename = "type", default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// Filter by status. Aliases are accepted.
    #[serde(rename = "status", default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<String>,
    /// Filter by tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only runs created at or after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_from: Option<String>,
    /// Only runs created before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_before: Option<String>,
}

/// A verb and the runs it applies to: either `ids` or `filter`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkRequest {
    /// The verb to apply.
    pub verb: Verb,
    /// The IDs of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// A filter that selects the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// The reason to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For `cancel`: whether to undo completed steps.
    #[serde(default = "yes")]
    pub rollback: bool,
}

/// The progress of a bulk request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkProgress {
    /// The number of processed runs.
    pub done: usize,
    /// The total number of runs.
    pub total: usize,
    /// The number of processed runs that refused the request or failed.
    pub refused: usize,
}

/// The result for one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkRun {
    /// The ID of the run.
    pub id: RunId,
    /// The effect of the request, unless it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<ControlAnswer>,
    /// Why the request was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// The maximum number of runs in [`BulkReport::runs`].
pub const BULK_RUNS_SHOWN: usize = 1_000;

/// The result of a bulk request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkReport {
    /// The number of runs.
    pub total: usize,
    /// The number of changed runs.
    pub changed: usize,
    /// The number of runs that refused the request.
    pub refused: usize,
    /// The results, in the order in which the runs were listed or named: at most 1,000, those of
    /// refused runs first of all.
    pub runs: Vec<BulkRun>,
    /// The number of runs whose results are left out.
    #[serde(default)]
    pub omitted: usize,
}

/// A line of a response with progress (`application/x-ndjson`). The last line is the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BulkLine {
    /// Progress so far.
    Progress(BulkProgress),
    /// The final report.
    Report(BulkReport),
}
