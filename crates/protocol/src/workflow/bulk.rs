//! `POST /bulk`: applies one verb to many runs and reports on each.

use std::fmt;

use everstep_model::{RunId, Verb};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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

/// The maximum number of runs that [`BulkRequest::ids`] may name.
pub const BULK_IDS_MAX: usize = 10_000;

/// A verb and the runs it applies to: either `ids` or `filter`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BulkRequest {
    /// The verb to apply.
    pub verb: Verb,
    /// The IDs of the runs.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "limited_ids"
    )]
    #[cfg_attr(feature = "schema", schemars(length(max = BULK_IDS_MAX)))]
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

/// Decodes the ids of runs, and stops at more than the maximum.
fn limited_ids<'de, D: Deserializer<'de>>(of: D) -> Result<Option<Vec<String>>, D::Error> {
    of.deserialize_any(IdsVisitor)
}

struct IdsVisitor;

impl<'de> Visitor<'de> for IdsVisitor {
    type Value = Option<Vec<String>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {BULK_IDS_MAX} run IDs")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Self::Value, A::Error> {
        let mut ids = Vec::new();
        while let Some(id) = given.next_element()? {
            if ids.len() == BULK_IDS_MAX {
                return Err(A::Error::invalid_length(BULK_IDS_MAX + 1, &self));
            }
            ids.push(id);
        }
        Ok(Some(ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B843
    #[test]
    fn a_bulk_request_with_more_runs_than_documented_is_not_decoded() {
        let request = |count| {
            let ids = vec!["a"; count];
            let text = serde_json::json!({"verb": "pause", "ids": ids}).to_string();
            serde_json::from_str::<BulkRequest>(&text).map_err(|error| error.to_string())
        };
        let most = request(BULK_IDS_MAX).unwrap();
        assert_eq!(most.ids.map(|ids| ids.len()), Some(BULK_IDS_MAX));
        let refused = request(BULK_IDS_MAX + 1).unwrap_err();
        assert!(refused.contains("at most 10000 run IDs"), "{refused}");
        for absent in [r#"{"verb":"pause"}"#, r#"{"verb":"pause","ids":null}"#] {
            let request: BulkRequest = serde_json::from_str(absent).unwrap();
            assert_eq!(request.ids, None);
        }
        let protocol = include_str!("../../../../PROTOCOL.md");
        assert!(protocol.contains("| `BULK_IDS_MAX` | 10000 |"));
    }
}
