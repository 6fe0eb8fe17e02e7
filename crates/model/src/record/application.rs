//! What the application itself says: rows for live clients, notifications, notes.

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;

/// What happens to a row of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOperation {
    /// It is there with this value, new or changed.
    Upsert,
    /// It is gone.
    Delete,
}
byte_codec!(RowOperation { Upsert = 0, Delete = 1 });

/// Collections that rows of an application are never in: views of a journal have rows of their own under these names.
pub const RESERVED_COLLECTIONS: [&str; 4] = ["workflow", "step", "rpc", "event"];

/// A row of the application changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateChanged {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The row's collection; its type on the wire.
    pub collection: Name,
    /// The row's key.
    pub key: String,
    /// What happens to it.
    pub operation: RowOperation,
    /// Its value; `null` when it is gone.
    pub value: Payload,
}
codec!(StateChanged {
    location,
    collection,
    key,
    operation,
    value
});

/// A notification to whoever listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Emitted {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// What it is about.
    pub topic: Name,
    /// What it says.
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
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The line.
    pub text: String,
}
codec!(Note { location, text });

/// An attribute of the run was set. Users find runs by their attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttributeSet {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The attribute's name.
    pub attribute: Name,
    /// A number, a boolean or a text. It replaces the attribute's earlier value.
    pub value: Payload,
}
codec!(AttributeSet {
    location,
    attribute,
    value
});
