//! Changing code under running workflows.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;

/// Which version of a change this run follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionChosen {
    /// The gate.
    #[serde(rename = "id")]
    pub location: Location,
    /// The version, from 1.
    pub version: u32,
}
codec!(VersionChosen { location, version });

/// The place of an operation that the code no longer has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// The operation.
    #[serde(rename = "id")]
    pub location: Location,
    /// The type name of the record it used to begin with.
    pub kind: String,
}
codec!(Removed { location, kind });
