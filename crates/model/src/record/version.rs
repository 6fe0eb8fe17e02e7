//! Code changes under running workflows.

use crate::codec::records;
use crate::location::Location;

records! {
    /// Which version of a change this run follows.
    pub struct VersionChosen {
        #[serde(rename = "id")]
        pub location: Location,
        /// Counted from 1.
        pub version: u32,
    }

    /// The code declared an operation as removed.
    pub struct Removed {
        #[serde(rename = "id")]
        pub location: Location,
        /// The type name of the first record of the removed operation.
        pub kind: String,
    }
}
