//! A stream as it was found: its head, its row, and whether it still lives.

use std::time::Duration;

use everstep_model::{Offset, StreamNumber, Timestamp};
use everstep_store::{Head, Row, RowKey, StreamRef, StreamRow};

use super::content_type::ContentType;
use super::error::StreamError;
use super::handle::Streams;
use super::path::StreamPath;

/// What a stream is, for whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Which stream of that path it is: a number that no other stream of the store ever had.
    pub number: StreamNumber,
    /// What its messages are.
    pub content_type: ContentType,
    /// Where it ends.
    pub next: Offset,
    /// Whether nothing more is appended.
    pub closed: bool,
    /// How long it lives after it was last touched.
    pub ttl: Option<Duration>,
    /// When it ends, whoever touches it.
    pub expires_at: Option<Timestamp>,
}

/// A stream as it was read.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) head: Head,
    pub(super) row: StreamRow,
}

/// What stands at a path.
pub(super) enum State {
    Missing,
    /// Its lifetime is over; nobody has cleared it away yet.
    Expired(Box<Found>),
    /// Deleted and kept for its forks.
    Deleted,
    Alive(Box<Found>),
}

impl Found {
    pub(super) fn end(&self) -> Offset {
        Offset {
            term: self.head.term,
            next: self.head.next,
        }
    }

    pub(super) fn content_type(&self) -> ContentType {
        ContentType::new(&self.row.content_type)
    }

    pub(super) fn info(&self) -> StreamInfo {
        StreamInfo {
            number: self.head.number,
            content_type: self.content_type(),
            next: self.end(),
            closed: self.head.closed,
            ttl: self.row.ttl,
            expires_at: self.row.expires_at,
        }
    }
}

impl Streams {
    pub(super) async fn row_of(
        &self,
        stream: StreamNumber,
    ) -> Result<Option<StreamRow>, StreamError> {
        match self.parts.node.store.row(RowKey::Stream(stream)).await? {
            Some(Row::Stream(row)) => Ok(Some(*row)),
            _ => Ok(None),
        }
    }

    pub(super) async fn by_number(
        &self,
        stream: StreamNumber,
    ) -> Result<Option<Found>, StreamError> {
        let Some(head) = self
            .parts
            .node
            .store
            .head(StreamRef::Number(stream))
            .await?
        else {
            return Ok(None);
        };
        let row = self.row_of(stream).await?;
        Ok(row.map(|row| Found { head, row }))
    }

    pub(super) async fn state(&self, path: &StreamPath) -> Result<State, StreamError> {
        let Some(head) = self
            .parts
            .node
            .store
            .head(StreamRef::Name(path.name()))
            .await?
        else {
            return Ok(State::Missing);
        };
        let Some(row) = self.row_of(head.number).await? else {
            // Removed between the two looks.
            return Ok(State::Missing);
        };
        let found = Box::new(Found { head, row });
        Ok(match found.row.deleted {
            true => State::Deleted,
            false if self.has_expired(&found.row) => State::Expired(found),
            false => State::Alive(found),
        })
    }

    /// The stream of a path, if it lives.
    pub(super) async fn find(&self, path: &StreamPath) -> Result<Found, StreamError> {
        match self.state(path).await? {
            State::Alive(found) => Ok(*found),
            State::Missing => Err(StreamError::Missing),
            State::Expired(found) if found.row.forks == 0 => Err(StreamError::Missing),
            State::Expired(_) | State::Deleted => Err(StreamError::Gone),
        }
    }

    /// What a stream is. Asking does not prolong its life.
    pub async fn info(&self, path: &StreamPath) -> Result<StreamInfo, StreamError> {
        self.find(path).await.map(|found| found.info())
    }

    /// The paths of streams that are created, grow or are closed from now on, on this node. Best effort: a listener far
    /// behind misses some.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<StreamPath> {
        self.parts.memory.changes()
    }
}
