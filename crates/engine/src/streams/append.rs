//! Appends to streams and closes them. Messages, producer, sequence and close are one commit.

use everstep_model::{Offset, Record, RecordNumber, Timestamp};
use everstep_store::{DeliverCommit, Guard, ProducerRow, Row, RowKey};

use super::decide::{Append, Appended, Decision, Seen, decide};
use super::error::StreamError;
use super::expiry::unchanged;
use super::found::Found;
use super::handle::Streams;
use super::messages;

impl Streams {
    /// Appends to a stream, closes it, or both. The change is durable when this returns.
    pub async fn append(&self, append: Append) -> Result<Appended, StreamError> {
        self.parts.committer.check_open()?;
        let mut lock = None;
        loop {
            let found = self.find(&append.path).await?;
            if lock.is_none() && (append.producer.is_some() || append.seq.is_some()) {
                lock = self.lock_for(&append, &found).await;
                continue;
            }
            let known = self.producer_row(&append, &found).await?;
            let seen = Seen {
                row: &found.row,
                end: found.end(),
                closed: found.head.closed,
                producer: known.as_ref(),
            };
            let (row, producer) = match decide(&append, &seen)? {
                Decision::Done { next, seq } => return Ok(self.done_before(&found, next, seq)),
                Decision::Append { row, producer } => (row, producer),
            };
            let mut commit = DeliverCommit::new(found.head.number, self.now());
            commit.records = records(&append, &found, commit.now)?;
            commit.close = append.close;
            if let Some(producer) = producer {
                commit.guards.push(producer_guard(&producer, known));
                commit.rows.put.push(Row::Producer(producer));
            }
            if let Some(row) = row {
                commit.guards.push(unchanged(&found.row));
                commit.rows.put.push(Row::Stream(row));
            }
            if let Some(appended) = self.commit_append(&append, &found, commit).await? {
                return Ok(appended);
            }
        }
    }

    /// Waits for other requests that would change the same row.
    async fn lock_for(
        &self,
        append: &Append,
        found: &Found,
    ) -> Option<tokio::sync::OwnedMutexGuard<()>> {
        let of = match (&append.producer, &append.seq) {
            (Some(producer), None) => producer.id.as_str(),
            (Some(_) | None, _) => "",
        };
        self.memory.lock(found.head.number, of).await
    }

    async fn producer_row(
        &self,
        append: &Append,
        found: &Found,
    ) -> Result<Option<ProducerRow>, StreamError> {
        let Some(producer) = &append.producer else {
            return Ok(None);
        };
        let key = RowKey::Producer(found.head.number, producer.id.clone());
        match self.parts.node.store.row(key).await? {
            Some(Row::Producer(row)) => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    /// Returns `None` if the request must be decided again.
    async fn commit_append(
        &self,
        append: &Append,
        found: &Found,
        commit: DeliverCommit,
    ) -> Result<Option<Appended>, StreamError> {
        let count = commit.records.len();
        // Before the commit, so that the stream does not expire between the decision and the
        // commit.
        self.touch(found);
        let Some((stream, first)) = self.commit(commit).await? else {
            return Ok(None);
        };
        self.parts.post_commit.stream_changed(stream, append.close);
        self.memory.changed(&append.path);
        Ok(Some(Appended {
            next: Offset {
                term: found.head.term,
                next: first.plus(count),
            },
            closed: append.close,
            repeated: false,
            seq: append.producer.as_ref().map(|producer| producer.seq),
        }))
    }

    fn done_before(&self, found: &Found, next: RecordNumber, seq: Option<u64>) -> Appended {
        self.touch(found);
        Appended {
            next: Offset {
                next,
                ..found.end()
            },
            closed: found.head.closed,
            repeated: true,
            seq,
        }
    }
}

fn producer_guard(row: &ProducerRow, known: Option<ProducerRow>) -> Guard {
    match known {
        Some(known) => Guard::RowIs(Row::Producer(known)),
        None => Guard::RowAbsent(RowKey::Producer(row.stream, row.id.clone())),
    }
}

fn records(append: &Append, found: &Found, now: Timestamp) -> Result<Vec<Record>, StreamError> {
    if append.body.is_empty() && append.close {
        return Ok(Vec::new());
    }
    if append.body.is_empty() {
        return Err(StreamError::NoMessage);
    }
    let messages = messages::messages(&append.body, &found.content_type())?;
    match messages.is_empty() {
        true => Err(StreamError::NoMessage),
        false => Ok(messages::records(messages, now)),
    }
}
