//! The schemas of types that are not ours to derive them for: what a field of that type looks like as JSON.

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

/// Why something failed, as data.
#[derive(JsonSchema)]
#[schemars(rename = "Failure")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct FailureShape {
    /// A permanent word, or one of the application's own.
    code: String,
    /// The name of the error, such as its type.
    name: String,
    /// What happened, for people.
    message: String,
    /// Where it happened, if known.
    #[schemars(default)]
    stack: Option<String>,
    /// What led to it.
    #[schemars(default)]
    cause: Option<Box<FailureShape>>,
    /// The attempt that failed, from 1; 0 where attempts do not apply.
    #[schemars(default)]
    attempt: u32,
}

/// One thing a run waits for; the other fields depend on `kind`.
#[derive(JsonSchema)]
#[schemars(rename = "Reason")]
#[allow(dead_code, reason = "only its shape is wanted")]
pub(crate) struct ReasonShape {
    /// What kind of thing, such as `event`, `timer_at` or `no_worker`.
    kind: String,
}
