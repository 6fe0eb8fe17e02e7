//! Schemas of types from other crates, which cannot derive them.

mod description;
mod journal;
mod words;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

pub(crate) use description::DescriptionShape;
pub(crate) use words::{CloseWord, PurposeWord, RunWord, StepWord, VerbWord};

/// Any JSON value.
pub(crate) struct Any;

impl JsonSchema for Any {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "any JSON value"})
    }
}

/// A point in time.
pub(crate) struct Time;

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// The cause of a failure, as data.
#[derive(JsonSchema)]
#[schemars(rename = "Failure")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct FailureShape {
    /// A permanent error code, or a code of the application.
    code: String,
    /// The name of the error, such as its type.
    name: String,
    /// A message for people.
    message: String,
    /// Where it happened, if known.
    #[schemars(default)]
    stack: Option<String>,
    /// The errors that caused it, outermost first.
    #[schemars(default)]
    cause: Option<Box<FailureShape>>,
    /// The failed attempt, from 1; 0 if attempts do not apply.
    #[schemars(default)]
    attempt: u32,
}

/// Something that a run waits for; the other fields depend on `kind`.
#[derive(JsonSchema)]
#[schemars(rename = "Reason")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct ReasonShape {
    /// The kind of wait, such as `event`, `timer_at` or `no_worker`.
    kind: String,
}
