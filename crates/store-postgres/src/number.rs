//! Conversion of numbers to and from the signed integers of PostgreSQL. Counts and times never get
//! near the end of the range and saturate there; random numbers keep their bits.

use everstep_model::{NodeId, Nonce, Timestamp};

/// Converts a count, the number of a record, or an epoch.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The inverse of [`count`].
pub(crate) fn uncount(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

pub(crate) fn millis(time: Timestamp) -> i64 {
    count(time.as_millis())
}

pub(crate) fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(uncount(millis))
}

pub(crate) fn node(node: NodeId) -> i64 {
    node.0.cast_signed()
}

pub(crate) fn nonce(nonce: Nonce) -> i64 {
    nonce.0.cast_signed()
}

pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Converts an index to a slot, which counts from 1.
pub(crate) fn slot(index: usize) -> i32 {
    i32::try_from(index).map_or(i32::MAX, |index| index.saturating_add(1))
}
