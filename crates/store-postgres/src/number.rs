//! Numbers as PostgreSQL keeps them: signed. Counts and times are far from the end of its range and
//! are cut there; random marks are kept bit by bit.

use everstep_model::{NodeId, Nonce, Timestamp};

/// A count, a record's number, an epoch.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A count as it was.
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

/// How many of something; more than PostgreSQL can count is as good as all.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A place in a list, counted from 1.
pub(crate) fn place(index: usize) -> i32 {
    i32::try_from(index)
        .unwrap_or(i32::MAX - 1)
        .saturating_add(1)
}
