//! Expiry of streams. The last use is tracked in memory and saved from time to time; a timer checks
//! whether the stream has expired.

use std::time::Duration;

use everstep_model::record::TimerPurpose;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{Guard, Row, RowKey, RowsCommit, StoreError, StreamRow, TimerRow};

use super::error::StreamError;
use super::found::Found;
use super::handle::Streams;
use crate::commit::PostCommit;

/// The number of parts of a lifetime. The saved last use may be one part behind.
const GRANULES: u32 = 20;
const GRANULE_MIN: Duration = Duration::from_millis(50);
const GRANULE_MAX: Duration = Duration::from_secs(3_600);

/// Returns how far the saved last use of a stream may be behind.
pub(super) fn granule(ttl: Duration) -> Duration {
    (ttl / GRANULES).clamp(GRANULE_MIN, GRANULE_MAX)
}

/// Returns when a stream expires, if it does. `touched` is the last use that this node knows, and
/// `is_exclusive` means that no other node can have used the stream.
pub(super) fn deadline(
    row: &StreamRow,
    touched: Option<Timestamp>,
    is_exclusive: bool,
) -> Option<Timestamp> {
    let Some(ttl) = row.ttl else {
        return row.expires_at;
    };
    let saved = match touched {
        Some(_) if is_exclusive => row.touched_at,
        _ => row.touched_at.after(granule(ttl)),
    };
    let last = touched.map_or(saved, |touched| touched.max(saved));
    Some(last.after(ttl))
}

/// Returns the timer that checks whether a stream has expired.
pub(super) fn timer(stream: StreamNumber, due: Timestamp) -> TimerRow {
    TimerRow {
        due,
        stream,
        purpose: TimerPurpose::Expiry,
        location: None,
    }
}

/// Returns a commit that only changes the row of a stream, unless it has changed since it was read.
pub(super) fn row_change(from: &StreamRow, to: StreamRow, now: Timestamp) -> RowsCommit {
    let mut commit = RowsCommit::new(from.stream, now);
    commit.guards.push(unchanged(from));
    commit.rows.put.push(Row::Stream(Box::new(to)));
    commit
}

/// Returns the condition that the row of a stream has not changed since it was read.
pub(super) fn unchanged(row: &StreamRow) -> Guard {
    Guard::RowIs(Row::Stream(Box::new(row.clone())))
}

impl Streams {
    fn deadline(&self, row: &StreamRow) -> Option<Timestamp> {
        let touched = self.memory.touched(row.stream);
        let is_exclusive = !self.parts.node.is_shared;
        deadline(row, touched, is_exclusive)
    }

    pub(super) fn has_expired(&self, row: &StreamRow) -> bool {
        let deadline = self.deadline(row);
        deadline.is_some_and(|deadline| deadline <= self.now())
    }

    /// Records the use of a stream. Saves it in the background if necessary.
    pub(super) fn touch(&self, found: &Found) {
        let Some(ttl) = found.row.ttl else { return };
        let (stream, now) = (found.row.stream, self.now());
        let step = u64::try_from(granule(ttl).as_millis() / 2).unwrap_or(u64::MAX);
        let written = found.row.touched_at;
        if self.memory.touch(stream, now, written, step) {
            let streams = self.clone();
            self.parts.node.spawn(async move {
                if let Err(error) = streams.save_touch(stream).await {
                    tracing::warn!(%error, %stream, "cannot save the last use of a stream");
                }
            });
        }
    }

    async fn save_touch(&self, stream: StreamNumber) -> Result<(), StreamError> {
        loop {
            let row = self.row_of(stream).await?;
            let (Some(row), Some(touched)) = (row, self.memory.touched(stream)) else {
                return Ok(());
            };
            if row.deleted || row.touched_at >= touched {
                return Ok(());
            }
            let changed = StreamRow {
                touched_at: touched,
                ..row.clone()
            };
            let commit = row_change(&row, changed, self.now());
            if self.commit(commit).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Handles the expiry timer of a stream: deletes the stream, or sets the timer again.
    pub(crate) async fn check_expiry(&self, timer: &TimerRow) -> Result<(), StreamError> {
        loop {
            let found = self.by_number(timer.stream).await?;
            let current = found.filter(|found| found.row.looked_at == Some(timer.due));
            let Some(found) = current else {
                return Ok(self.clear_timer(timer).await?);
            };
            let is_handled = match self.has_expired(&found.row) {
                true => self.delete_found(&found).await?,
                false => self.check_later(&found, timer).await?,
            };
            if is_handled {
                return Ok(());
            }
        }
    }

    async fn clear_timer(&self, timer: &TimerRow) -> Result<(), StoreError> {
        let mut commit = RowsCommit::new(timer.stream, self.now());
        commit.rows.delete.push(RowKey::Timer(timer.clone()));
        self.parts.committer.commit(commit).await.map(drop)
    }

    async fn check_later(&self, found: &Found, fired: &TimerRow) -> Result<bool, StreamError> {
        let Some(due) = self.deadline(&found.row) else {
            self.clear_timer(fired).await?;
            return Ok(true);
        };
        let changed = StreamRow {
            looked_at: Some(due),
            ..found.row.clone()
        };
        let next = timer(found.row.stream, due);
        let mut commit = row_change(&found.row, changed, self.now());
        commit.rows.delete.push(RowKey::Timer(fired.clone()));
        commit.rows.put.push(Row::Timer(next.clone()));
        let is_committed = self.commit(commit).await?.is_some();
        if is_committed {
            let effects = PostCommit::of_stream(vec![next], false);
            self.parts.post_commit.apply(found.row.stream, effects);
        }
        Ok(is_committed)
    }
}
