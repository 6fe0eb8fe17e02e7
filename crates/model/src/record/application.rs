//! Records of the application: rows for live clients, notifications, notes and attributes.

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};
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
enum_codec!(RowOperation { Upsert = 0, Delete = 1 });

/// Collections that applications cannot use, because views of a journal have rows of their own
/// under these names.
pub const RESERVED_COLLECTIONS: [&str; 4] = ["workflow", "step", "rpc", "event"];

records! {
    /// A row of the application changed.
    pub struct StateChanged {
        #[serde(rename = "id")]
        pub location: Location,
        /// The collection of the row, which is its type on the wire.
        pub collection: Name,
        pub key: String,
        pub operation: RowOperation,
        /// The value; `null` for a deleted row.
        pub value: Payload,
    }

    /// A notification to subscribers.
    pub struct Emitted {
        #[serde(rename = "id")]
        pub location: Location,
        pub topic: Name,
        pub payload: Payload,
    }

    /// A line for the audit trail.
    pub struct Note {
        #[serde(rename = "id")]
        pub location: Location,
        pub text: String,
    }

    /// An attribute of the run was set. Users find runs by their attributes.
    pub struct AttributeSet {
        #[serde(rename = "id")]
        pub location: Location,
        pub attribute: Name,
        /// A number, a boolean or a text. It replaces the attribute's earlier value.
        pub value: Payload,
    }
}
