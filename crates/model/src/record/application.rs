//! Records of the application: rows for live clients, notifications, notes and attributes.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;

/// A change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOperation {
    /// The row is added or replaced.
    Upsert,
    /// The row is deleted.
    Delete,
}
byte_codec!(RowOperation { Upsert = 0, Delete = 1 });

/// Collections that applications cannot use, because views of a journal have rows of their own under these names.
pub const RESERVED_COLLECTIONS: [&str; 4] = ["workflow", "step", "rpc", "event"];

/// A row of the application changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateChanged {
    #[serde(rename = "id")]
    pub location: Location,
    /// The collection of the row, which is its type on the wire.
    pub collection: Name,
    pub key: String,
    /// The kind of change.
    pub operation: RowOperation,
    /// The value; `null` for a deleted row.
    pub value: Payload,
}
codec!(StateChanged {
    location,
    collection,
    key,
    operation,
    value
});

/// A notification to subscribers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Emitted {
    #[serde(rename = "id")]
    pub location: Location,
    pub topic: Name,
    pub payload: Payload,
}
codec!(Emitted {
    location,
    topic,
    payload
});

/// A line for the audit trail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    #[serde(rename = "id")]
    pub location: Location,
    pub text: String,
}
codec!(Note { location, text });

/// An attribute of the run was set. Users find runs by their attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttributeSet {
    #[serde(rename = "id")]
    pub location: Location,
    pub attribute: Name,
    /// A number, a boolean or a text. It replaces the attribute's earlier value.
    pub value: Payload,
}
codec!(AttributeSet {
    location,
    attribute,
    value
});
