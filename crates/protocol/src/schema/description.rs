//! The schema of a workflow's description.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::Any;

/// What the server knows about a workflow whose code is elsewhere.
#[derive(JsonSchema)]
#[schemars(rename = "Description")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct DescriptionShape {
    /// JSON schema of the input.
    #[schemars(skip_serializing_if = "Option::is_none")]
    input: Option<Any>,
    /// JSON schema of the result.
    #[schemars(skip_serializing_if = "Option::is_none")]
    output: Option<Any>,
    /// The accepted events with the schemas of their payloads; absent if the workflow accepts any
    /// event.
    #[schemars(skip_serializing_if = "Option::is_none")]
    events: Option<BTreeMap<String, DescribedShape>>,
    /// The questions that the workflow asks.
    #[schemars(default, skip_serializing_if = "BTreeMap::is_empty")]
    rpcs: BTreeMap<String, DescribedShape>,
    /// Default maximum duration of a run in milliseconds, counted from its creation.
    #[schemars(skip_serializing_if = "Option::is_none")]
    deadline: Option<u64>,
}

/// The description of an event's payload or of an answer.
#[derive(JsonSchema)]
#[schemars(rename = "Described")]
#[allow(dead_code, reason = "only its shape is wanted")]
struct DescribedShape {
    /// Its JSON schema.
    #[schemars(skip_serializing_if = "Option::is_none")]
    schema: Option<Any>,
}
