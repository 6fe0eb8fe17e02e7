//! What a check or a salvage found.

use std::fmt;

/// Something in a store that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file or directory.
    pub place: String,
    /// What is wrong with it.
    pub detail: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.detail)
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Everything that cannot be read. Empty if the store is intact.
    pub damage: Vec<Damage>,
    /// The number of streams, including the journals of runs.
    pub streams: u64,
}

/// A stream that is not in the new store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostStream {
    /// The name, such as `workflows/order-7`, or the number if the name is lost too.
    pub name: String,
    /// What is missing.
    pub detail: String,
    /// The number of its records that can be read. They are in a file below `damaged/`.
    pub records: u64,
}

/// The result of a salvage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalvageReport {
    /// Everything that cannot be read.
    pub damage: Vec<Damage>,
    /// The number of streams in the new store.
    pub streams: u64,
    /// Streams that are incomplete and therefore not in the new store.
    pub lost: Vec<LostStream>,
    /// Streams in the new store that may lack their last records.
    pub cut: Vec<String>,
    /// Whether further streams may be missing or lack their last records, because it is unknown
    /// what a damaged part contained.
    pub others_may_be_cut: bool,
    /// Whether rows beside the journals may be missing, such as timers and open rpcs of unfinished
    /// runs.
    pub rows_may_be_missing: bool,
}
