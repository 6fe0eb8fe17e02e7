//! The schemas of records as workers get and send them: the State Protocol's envelope. What is in `value` depends on the type
//! and is said in PROTOCOL.md.

use std::borrow::Cow;

use everstep_model::record::Body;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Any, Time};
use crate::worker::{WireEntry, WireRecord};

/// The type of a record.
struct RecordType;

impl JsonSchema for RecordType {
    fn schema_name() -> Cow<'static, str> {
        "RecordType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Body::TYPE_NAMES.iter();
        let names: Vec<_> = names.map(|name| format!("workflow:{name}")).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

/// A record of a journal.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct EntryShape {
    /// What kind of record it is.
    r#type: RecordType,
    /// The operation it is about, or `run`.
    key: String,
    /// Its fields, as PROTOCOL.md says for its type.
    value: std::collections::BTreeMap<String, Any>,
    headers: EntryHeaders,
}

/// What is said of a record besides its fields.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct EntryHeaders {
    /// `insert`, or `delete` where a row of the application is taken away.
    operation: String,
    /// The writer's clock when it was made.
    timestamp: Time,
    /// Its place in the journal, from 0.
    number: u64,
}

/// A record that is to be appended.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct RecordShape {
    /// What kind of record it is.
    r#type: RecordType,
    /// Its fields, as PROTOCOL.md says for its type.
    value: std::collections::BTreeMap<String, Any>,
    headers: RecordHeaders,
}

/// What is said of a record that is to be appended.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct RecordHeaders {
    /// The writer's clock when it was made.
    timestamp: Time,
}

impl JsonSchema for WireEntry {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        EntryShape::json_schema(generator)
    }
}

impl JsonSchema for WireRecord {
    fn schema_name() -> Cow<'static, str> {
        "Record".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RecordShape::json_schema(generator)
    }
}
