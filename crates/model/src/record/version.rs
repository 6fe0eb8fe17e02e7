//! Code changes under running workflows.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;

/// Which version of a change this run follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionChosen {
    #[serde(rename = "id")]
    pub location: Location,
    /// Counted from 1.
    pub version: u32,
}
codec!(VersionChosen { location, version });

/// The code declared an operation as removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    #[serde(rename = "id")]
    pub location: Location,
    /// The type name of the first record of the removed operation.
    pub kind: String,
}
codec!(Removed { location, kind });
