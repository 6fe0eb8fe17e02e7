//! The schema of what a workflow says about itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::Any;

/// What others must know of a workflow whose code is elsewhere.
#[derive(JsonSchema)]
#[schemars(rename = "Description")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct DescriptionShape {
    /// The JSON schema of its input.
    #[schemars(skip_serializing_if = "Option::is_none")]
    input: Option<Any>,
    /// The JSON schema of its result.
    #[schemars(skip_serializing_if = "Option::is_none")]
    output: Option<Any>,
    /// The events it accepts, with the schemas of their payloads; nothing is said if it takes any.
    #[schemars(skip_serializing_if = "Option::is_none")]
    events: Option<BTreeMap<String, DescribedShape>>,
    /// The questions it asks.
    #[schemars(default, skip_serializing_if = "BTreeMap::is_empty")]
    rpcs: BTreeMap<String, DescribedShape>,
    /// How long its runs may take that nobody said more about, in milliseconds from their creation.
    #[schemars(skip_serializing_if = "Option::is_none")]
    deadline: Option<u64>,
}

/// What is said of an event's payload, or of an answer.
#[derive(JsonSchema)]
#[schemars(rename = "Described")]
#[allow(dead_code, reason = "only its shape is wanted")]
struct DescribedShape {
    /// Its JSON schema.
    #[schemars(skip_serializing_if = "Option::is_none")]
    schema: Option<Any>,
}
