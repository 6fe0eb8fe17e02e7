//! The schemas of records in the worker protocol: the envelope of the State Protocol. The content
//! of `value` depends on the type; PROTOCOL.md describes it.

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
    /// The type of the record.
    r#type: RecordType,
    /// The operation that the record belongs to, or `run`.
    key: String,
    /// The fields of the record, as described in PROTOCOL.md for its type.
    value: std::collections::BTreeMap<String, Any>,
    headers: EntryHeaders,
}

/// Metadata of a record.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct EntryHeaders {
    /// `insert`, or `delete` if the application removes a row.
    operation: String,
    /// The writer's clock when the record was created.
    timestamp: Time,
    /// The record's number in the journal, from 0.
    number: u64,
}

/// A record to append.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct RecordShape {
    /// The type of the record.
    r#type: RecordType,
    /// The fields of the record, as described in PROTOCOL.md for its type.
    value: std::collections::BTreeMap<String, Any>,
    headers: RecordHeaders,
}

/// Metadata of a record to append.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its shape is wanted")]
struct RecordHeaders {
    /// The writer's clock when the record was created.
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
