//! Schemas of values from other crates, and of records in the worker protocol: the envelope of the
//! State Protocol. The content of `value` depends on the type of the record; PROTOCOL.md describes
//! it.

#![allow(dead_code, reason = "only the shapes are used")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use everstep_model::record::Body;
use everstep_model::{Payload, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

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
#[schemars(inline)]
pub(crate) struct EntryShape {
    /// The type of the record.
    r#type: RecordType,
    /// The operation that the record belongs to, or `run`.
    key: String,
    /// The fields of the record, as described in PROTOCOL.md for its type.
    value: BTreeMap<String, Payload>,
    headers: EntryHeaders,
}

/// Metadata of a record.
#[derive(JsonSchema)]
struct EntryHeaders {
    /// `insert`, or `delete` if the application removes a row.
    operation: String,
    /// The writer's clock when the record was created.
    timestamp: Timestamp,
    /// The record's number in the journal, from 0.
    number: u64,
}

/// A record to append.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(crate) struct RecordShape {
    /// The type of the record.
    r#type: RecordType,
    /// The fields of the record, as described in PROTOCOL.md for its type.
    value: BTreeMap<String, Payload>,
    headers: RecordHeaders,
}

/// Metadata of a record to append.
#[derive(JsonSchema)]
struct RecordHeaders {
    /// The writer's clock when the record was created.
    timestamp: Timestamp,
}

/// Something that a run waits for; the other fields depend on `kind`.
#[derive(JsonSchema)]
#[schemars(rename = "Reason")]
pub(crate) struct ReasonShape {
    /// The kind of wait, such as `event`, `timer_at` or `no_worker`.
    kind: String,
}
