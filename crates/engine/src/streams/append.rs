//! Appending and closing: data, producer, sequence and close are one commit.

use bytes::Bytes;
use everstep_model::{Offset, Record};
use everstep_store::{DeliverCommit, Guard, Outcome, ProducerRow, Row, RowKey};

use super::Streams;
use super::content_type::ContentType;
use super::decide::{Decision, Seen, decide};
use super::error::{StreamError, decide_again};
use super::found::Found;
use super::messages;
use super::path::StreamPath;
use super::producer::Producer;

/// What is to be appended.
#[derive(Clone, Debug)]
pub struct Append {
    /// To which stream.
    pub path: StreamPath,
    /// What the body is; must be the stream's. None where there is no body.
    pub content_type: Option<ContentType>,
    /// The messages; empty to close alone.
    pub body: Bytes,
    /// Whether the stream is closed with it.
    pub close: bool,
    /// Who appends, to be known when it is sent again.
    pub producer: Option<Producer>,
    /// A text that must be higher, byte by byte, than that of the last append to this stream that had one.
    pub seq: Option<String>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The end of the append's own messages.
    pub next: Offset,
    /// Whether the stream is closed now.
    pub closed: bool,
    /// Whether it had been done before and nothing changed now.
    pub repeated: bool,
    /// The highest sequence of the producer that was taken.
    pub seq: Option<u64>,
}

impl Streams {
    /// Appends to a stream, closes it, or both. It is durable when this returns.
    pub async fn append(&self, append: Append) -> Result<Appended, StreamError> {
        self.core.check_open()?;
        let mut turn = None;
        loop {
            let found = self.find(&append.path).await?;
            if turn.is_none() && (append.producer.is_some() || append.seq.is_some()) {
                turn = self.turn_of(&append, &found).await;
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
                Decision::Done { next, seq } => {
                    return Ok(self.done_before(&found, next, seq));
                }
                Decision::Append { row, producer } => (row, producer),
            };
            let records = self.records(&append, &found)?;
            let mut commit = self.append_commit(&append, &found, records);
            if let Some(producer) = producer {
                commit.guards.push(producer_guard(&producer, known));
                commit.rows.put.push(Row::Producer(producer));
            }
            if let Some(row) = row {
                let guard = Row::Stream(Box::new(found.row.clone()));
                commit.guards.push(Guard::RowIs(guard));
                commit.rows.put.push(Row::Stream(row));
            }
            if let Some(appended) = self.commit_append(&append, &found, commit).await? {
                return Ok(appended);
            }
        }
    }

    /// What competes for one row takes turns.
    async fn turn_of(
        &self,
        append: &Append,
        found: &Found,
    ) -> Option<tokio::sync::OwnedMutexGuard<()>> {
        let of = match (&append.producer, &append.seq) {
            (Some(producer), None) => producer.id.as_str(),
            (Some(_) | None, _) => "",
        };
        self.core.streams.turn(found.head.number, of).await
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
        match self.core.store.row(key).await? {
            Some(Row::Producer(row)) => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    fn records(&self, append: &Append, found: &Found) -> Result<Vec<Record>, StreamError> {
        if append.body.is_empty() {
            return match append.close {
                true => Ok(Vec::new()),
                false => Err(StreamError::NoMessage),
            };
        }
        let messages = messages::messages(&append.body, &found.content_type())?;
        if messages.is_empty() {
            return Err(StreamError::NoMessage);
        }
        Ok(messages::records(messages, self.core.runtime.now()))
    }

    fn append_commit(&self, append: &Append, found: &Found, records: Vec<Record>) -> DeliverCommit {
        let mut commit = DeliverCommit::new(found.head.number, self.core.runtime.now());
        commit.records = records;
        commit.close = append.close;
        commit
    }

    /// None if it is to be decided again.
    async fn commit_append(
        &self,
        append: &Append,
        found: &Found,
        commit: DeliverCommit,
    ) -> Result<Option<Appended>, StreamError> {
        let count = commit.records.len();
        // Before it is committed, so that the stream does not expire between the decision and the commit.
        self.touch(found);
        match self.core.committer.commit(commit).await? {
            Outcome::Committed { stream, first, .. } | Outcome::Duplicate { stream, first, .. } => {
                self.core.news_of(stream, append.close);
                self.core.streams.changed(&append.path);
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
            Outcome::Refused(refusal) => decide_again(refusal).map(|()| None),
        }
    }

    fn done_before(
        &self,
        found: &Found,
        next: everstep_model::RecordNumber,
        seq: Option<u64>,
    ) -> Appended {
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
