//! The position of the fold in the journal, and time as the code and the executor see it.

use std::collections::VecDeque;
use std::time::Duration;

use everstep_model::{Entry, Origin, RecordNumber, Timestamp};

use crate::moment::Moment;

/// The position of the fold in the journal.
#[derive(Debug, Default)]
pub struct Position {
    /// Records that are known and not folded.
    pub(super) unfolded: VecDeque<Entry>,
    pub(super) here: Moment,
    /// Everything before this record is known. The journal is read from here on.
    pub known: RecordNumber,
    /// The number of inbox records that are known, which a suspension or an end has seen. An
    /// execution decides only after it has folded everything that could change the decision.
    pub inbox_known: u64,
    /// Time as the code sees it: of the last folded record. It never goes back.
    pub now: Timestamp,
    /// The executor's clock, for new deadlines.
    pub(super) wall: Timestamp,
}

impl Position {
    pub(super) fn note_known(&mut self, entry: &Entry) {
        self.known = entry.number.plus(1);
        if entry.record.body.origin() == Origin::Inbox {
            self.inbox_known += 1;
        }
    }

    /// Moves past a record.
    pub(super) fn fold(&mut self, entry: &Entry) {
        self.here = Moment {
            folded: entry.number.plus(1),
            number: 0,
        };
        self.advance_time(entry.record.time);
    }

    pub(super) fn advance_time(&mut self, time: Timestamp) {
        self.now = self.now.max(time);
    }

    /// Returns the number of the next record to fold.
    pub(super) fn next_number(&self) -> Option<RecordNumber> {
        self.unfolded.front().map(|entry| entry.number)
    }

    /// Returns the deadline of an operation that is called now.
    pub(super) fn deadline(&self, timeout: Duration) -> Timestamp {
        self.wall.max(self.now).after(timeout)
    }
}
