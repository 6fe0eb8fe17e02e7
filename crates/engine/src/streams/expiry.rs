//! Lifetimes: they slide in memory, are written down now and then, and end by a timer.

use std::time::Duration;

use everstep_model::record::TimerPurpose;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{Guard, Outcome, Row, RowKey, RowsCommit, StoreError, StreamRow, TimerRow};

use super::Streams;
use super::error::{StreamError, decide_again};
use super::found::Found;
use crate::effects::Effects;

/// Parts of a lifetime by which a touch may be off where it is not in memory.
const GRANULES: u32 = 20;
const GRANULE_MIN: Duration = Duration::from_millis(50);
const GRANULE_MAX: Duration = Duration::from_secs(3_600);

/// How much a touch that was not written down may have moved a lifetime.
pub(super) fn granule(ttl: Duration) -> Duration {
    (ttl / GRANULES).clamp(GRANULE_MIN, GRANULE_MAX)
}

/// When a stream ends; none if it does not. `touched` is what this process knows; whether that is all there is to know
/// says `knows_all`.
pub(super) fn deadline(
    row: &StreamRow,
    touched: Option<Timestamp>,
    knows_all: bool,
) -> Option<Timestamp> {
    let Some(ttl) = row.ttl else {
        return row.expires_at;
    };
    let last = match touched {
        Some(touched) if knows_all => touched.max(row.touched_at),
        touched => {
            let latest = row.touched_at.after(granule(ttl));
            touched.map_or(latest, |touched| touched.max(latest))
        }
    };
    Some(last.after(ttl))
}

/// The timer that looks whether a stream has expired.
pub(super) fn timer(stream: StreamNumber, due: Timestamp) -> TimerRow {
    TimerRow {
        due,
        stream,
        purpose: TimerPurpose::Expiry,
        location: None,
    }
}

impl Streams {
    fn deadline(&self, row: &StreamRow) -> Option<Timestamp> {
        let touched = self.core.streams.touched(row.stream);
        let knows_all = self.core.store.describe().exclusive;
        deadline(row, touched, knows_all)
    }

    pub(super) fn has_expired(&self, row: &StreamRow) -> bool {
        let deadline = self.deadline(row);
        deadline.is_some_and(|deadline| deadline <= self.core.runtime.now())
    }

    /// A stream was used. Nobody waits for that to be written down.
    pub(super) fn touch(&self, found: &Found) {
        let Some(ttl) = found.row.ttl else { return };
        let (stream, now) = (found.row.stream, self.core.runtime.now());
        let step = u64::try_from(granule(ttl).as_millis() / 2).unwrap_or(u64::MAX);
        let written = found.row.touched_at;
        if self.core.streams.touch(stream, now, written, step) {
            let streams = self.clone();
            self.core.spawn(Box::pin(async move {
                if let Err(error) = streams.save_touch(stream).await {
                    tracing::warn!(%error, %stream, "a touch could not be written down");
                }
            }));
        }
    }

    async fn save_touch(&self, stream: StreamNumber) -> Result<(), StreamError> {
        loop {
            let (Some(row), Some(touched)) = (
                self.row_of(stream).await?,
                self.core.streams.touched(stream),
            ) else {
                return Ok(());
            };
            if row.deleted || row.touched_at >= touched {
                return Ok(());
            }
            let changed = StreamRow {
                touched_at: touched,
                ..row.clone()
            };
            let commit = self.row_change(&row, changed);
            match self.core.committer.commit(commit).await? {
                Outcome::Refused(refusal) => decide_again(refusal)?,
                Outcome::Committed { .. } | Outcome::Duplicate { .. } => return Ok(()),
            }
        }
    }

    /// A commit that changes a stream's row and nothing else, if nobody else has.
    pub(super) fn row_change(&self, from: &StreamRow, to: StreamRow) -> RowsCommit {
        let mut commit = RowsCommit::new(from.stream, self.core.runtime.now());
        let guard = Row::Stream(Box::new(from.clone()));
        commit.guards.push(Guard::RowIs(guard));
        commit.rows.put.push(Row::Stream(Box::new(to)));
        commit
    }

    /// A timer of a stream has fired: the stream ends, or the timer is set anew.
    pub(crate) async fn look_at(&self, timer: &TimerRow) -> Result<(), StreamError> {
        loop {
            let found = self.by_number(timer.stream).await?;
            let current = found.filter(|found| found.row.looked_at == Some(timer.due));
            let Some(found) = current else {
                return Ok(self.clear_timer(timer).await?);
            };
            if self.has_expired(&found.row) {
                if self.take_away(&found).await? {
                    return Ok(());
                }
                continue;
            }
            if self.look_later(&found, timer).await? {
                return Ok(());
            }
        }
    }

    async fn clear_timer(&self, timer: &TimerRow) -> Result<(), StoreError> {
        let mut commit = RowsCommit::new(timer.stream, self.core.runtime.now());
        commit.rows.delete.push(RowKey::Timer(timer.clone()));
        self.core.committer.commit(commit).await.map(drop)
    }

    async fn look_later(&self, found: &Found, fired: &TimerRow) -> Result<bool, StreamError> {
        let Some(due) = self.deadline(&found.row) else {
            self.clear_timer(fired).await?;
            return Ok(true);
        };
        let changed = StreamRow {
            looked_at: Some(due),
            ..found.row.clone()
        };
        let next = timer(found.row.stream, due);
        let mut commit = self.row_change(&found.row, changed);
        commit.rows.delete.push(RowKey::Timer(fired.clone()));
        commit.rows.put.push(Row::Timer(next.clone()));
        match self.core.committer.commit(commit).await? {
            Outcome::Refused(refusal) => decide_again(refusal).map(|()| false),
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                let effects = Effects::of_stream(vec![next], false);
                self.core.committed(found.row.stream, effects);
                Ok(true)
            }
        }
    }
}
