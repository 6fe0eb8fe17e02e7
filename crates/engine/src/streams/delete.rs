//! Deletes streams. A stream without forks is removed, together with its deleted sources that have
//! no other fork. A stream with forks is closed and marked as deleted.

use everstep_model::Timestamp;
use everstep_store::{Commit, DeliverCommit, RemoveCommit, Row, RowKey, StreamRow};

use super::error::StreamError;
use super::expiry::{row_change, timer, unchanged};
use super::found::Found;
use super::handle::Streams;
use super::path::StreamPath;

impl Streams {
    /// Deletes a stream. The deletion is durable when this returns.
    pub async fn delete(&self, path: &StreamPath) -> Result<(), StreamError> {
        self.parts.committer.check_open()?;
        loop {
            let found = self.find(path).await?;
            let _lock = self.memory.lock(found.head.number, "").await;
            if self.delete_found(&found).await? {
                return Ok(());
            }
        }
    }

    /// Deletes the stream that was found. Returns false if it has changed since.
    pub(super) async fn delete_found(&self, found: &Found) -> Result<bool, StreamError> {
        let stream = found.head.number;
        let commit = match found.row.forks {
            0 => self.removal(found).await?.into(),
            _ => marking(found, self.now()),
        };
        let is_committed = self.commit(commit).await?.is_some();
        if is_committed {
            self.memory.forget(stream);
            self.memory.removed(&found.head.name);
            self.parts.post_commit.stream_changed(stream, true);
        }
        Ok(is_committed)
    }

    async fn removal(&self, found: &Found) -> Result<RemoveCommit, StreamError> {
        let mut commit = RemoveCommit::new(Vec::new(), self.now());
        let mut row = found.row.clone();
        loop {
            commit.streams.push(row.stream);
            commit.rows.delete.extend(timer_of(&row));
            commit.guards.push(unchanged(&row));
            let Some(fork) = &row.forked_from else { break };
            let Some(source) = self.row_of(fork.source).await? else {
                break;
            };
            if !source.deleted || source.forks > 1 {
                commit.guards.push(unchanged(&source));
                let counted = StreamRow {
                    forks: source.forks.saturating_sub(1),
                    ..source
                };
                commit.rows.put.push(Row::Stream(Box::new(counted)));
                break;
            }
            row = source;
        }
        Ok(commit)
    }
}

/// Returns the commit that marks a stream with forks as deleted.
fn marking(found: &Found, now: Timestamp) -> Commit {
    let marked = StreamRow {
        deleted: true,
        looked_at: None,
        ..found.row.clone()
    };
    let mut change = row_change(&found.row, marked, now);
    change.rows.delete.extend(timer_of(&found.row));
    if found.head.closed {
        return change.into();
    }
    // Closing makes the store refuse appends that were decided before.
    let mut commit = DeliverCommit::new(change.stream, change.now);
    commit.guards = change.guards;
    commit.rows = change.rows;
    commit.close = true;
    commit.into()
}

/// Returns the key of the timer that checks the stream's expiry.
fn timer_of(row: &StreamRow) -> Option<RowKey> {
    let due = row.looked_at?;
    Some(RowKey::Timer(timer(row.stream, due)))
}
