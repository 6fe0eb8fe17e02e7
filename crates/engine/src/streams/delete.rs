//! Deleting: a stream without forks goes for good, and so do its deleted sources that nobody reads any more. One with
//! forks is closed and marked.

use everstep_store::{Commit, DeliverCommit, Guard, Outcome, RemoveCommit, Row, RowKey, StreamRow};

use super::Streams;
use super::error::{StreamError, decide_again};
use super::expiry::timer;
use super::found::Found;
use super::path::StreamPath;

impl Streams {
    /// Deletes a stream. It is durable when this returns.
    pub async fn delete(&self, path: &StreamPath) -> Result<(), StreamError> {
        self.core.check_open()?;
        loop {
            let found = self.find(path).await?;
            let _turn = self.core.streams.turn(found.head.number, "").await;
            if self.take_away(&found).await? {
                return Ok(());
            }
        }
    }

    /// Deletes what was found; false if it has changed since.
    pub(super) async fn take_away(&self, found: &Found) -> Result<bool, StreamError> {
        let stream = found.head.number;
        let commit = match found.row.forks {
            0 => self.removal(found).await?.into(),
            _ => self.marking(found),
        };
        match self.core.committer.commit(commit).await? {
            Outcome::Refused(refusal) => decide_again(refusal).map(|()| false),
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => {
                self.core.streams.forget(stream);
                self.core.news_of(stream, true);
                Ok(true)
            }
        }
    }

    fn marking(&self, found: &Found) -> Commit {
        let marked = StreamRow {
            deleted: true,
            looked_at: None,
            ..found.row.clone()
        };
        let mut change = self.row_change(&found.row, marked);
        change.rows.delete.extend(timer_of(&found.row));
        if found.head.closed {
            return change.into();
        }
        // Closing it refuses appends that were decided before.
        let mut commit = DeliverCommit::new(change.stream, change.now);
        commit.guards = change.guards;
        commit.rows = change.rows;
        commit.close = true;
        commit.into()
    }

    async fn removal(&self, found: &Found) -> Result<RemoveCommit, StreamError> {
        let mut commit = RemoveCommit::new(Vec::new(), self.core.runtime.now());
        let mut row = found.row.clone();
        loop {
            commit.streams.push(row.stream);
            commit.rows.delete.extend(timer_of(&row));
            let guard = Row::Stream(Box::new(row.clone()));
            commit.guards.push(Guard::RowIs(guard));
            let Some(fork) = &row.forked_from else { break };
            let Some(source) = self.row_of(fork.source).await? else {
                break;
            };
            if !source.deleted || source.forks > 1 {
                let guard = Row::Stream(Box::new(source.clone()));
                commit.guards.push(Guard::RowIs(guard));
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

/// The key of the timer that checks the stream's expiry.
fn timer_of(row: &StreamRow) -> Option<RowKey> {
    let due = row.looked_at?;
    Some(RowKey::Timer(timer(row.stream, due)))
}
