//! Conditions of a commit.

use everstep_model::{RecordNumber, Timestamp};

use crate::row::{Row, RowKey};

/// A condition that must hold when the commit is judged.
///
/// A creation and a removal have no stream to compare with before the commit: for a creation the
/// guards on the stream compare with an empty stream, for a removal they are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The inbox holds exactly this many records, so the executor has seen all of them.
    InboxSeen(u64),
    /// The stream ends here: nothing was appended since it was read.
    EndsAt(RecordNumber),
    /// Fewer than this many events are unconsumed.
    UnconsumedEventsBelow(u64),
    /// The row exists.
    RowPresent(RowKey),
    /// The row does not exist.
    RowAbsent(RowKey),
    /// The stored row equals this one.
    RowIs(Row),
    /// The store's own clock shows this time or a later one.
    NotBefore(Timestamp),
}
