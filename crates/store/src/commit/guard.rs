//! Conditions of a commit.

use everstep_model::{RecordNumber, Timestamp};

use crate::row::{Row, RowKey};

/// A condition that must hold when the commit is judged.
///
/// Guards on the stream ([`Guard::InboxSeen`], [`Guard::EndsAt`], [`Guard::UnconsumedEventsBelow`])
/// need a head to compare with. A creation compares with an empty stream, a removal ignores them,
/// and a change of rows whose stream is gone is refused with [`crate::Refusal::NoStream`]. Guards
/// on rows and time are judged in every commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The inbox holds exactly this many records, so the executor has seen all of them.
    InboxSeen(u64),
    /// The stream ends here: no record was appended since it was read.
    EndsAt(RecordNumber),
    /// Fewer than this many events are unconsumed.
    UnconsumedEventsBelow(u64),
    RowPresent(RowKey),
    /// The row does not exist.
    ///
    /// This is serialised with other commits of the same stream, and with all commits if this
    /// commit also puts the row. If it does not, stores with concurrent writers take no lock for an
    /// absent row that is shared or belongs to another stream. If each of two commits puts the row
    /// that the other one requires to be absent, both may then apply.
    RowAbsent(RowKey),
    /// The stored row equals this one. A row with [`crate::CommitTime::FillIn`] never does.
    RowIs(Row),
    /// The store's own clock shows this time or a later one.
    NotBefore(Timestamp),
}
