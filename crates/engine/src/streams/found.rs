//! Finds streams: head, row, and whether a stream has expired.

use std::time::Duration;

use everstep_model::{Offset, StreamNumber, Timestamp};
use everstep_store::{Head, Row, RowKey, StreamRef, StreamRow};

use super::content_type::ContentType;
use super::error::StreamError;
use super::handle::Streams;
use super::path::StreamPath;

/// The properties of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct StreamInfo {
    /// Identifies the stream among all that were ever at its path.
    pub number: StreamNumber,
    pub content_type: ContentType,
    /// The end of the stream.
    pub next: Offset,
    /// Whether the stream accepts no more appends.
    pub closed: bool,
    /// How long the stream is kept after its last use.
    pub ttl: Option<Duration>,
    /// When the stream expires, regardless of its use.
    pub expires_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) head: Head,
    pub(super) row: StreamRow,
}

/// The state of a path.
pub(super) enum State {
    Missing,
    /// The stream has expired and is not deleted yet.
    Expired(Box<Found>),
    /// The stream is deleted and kept for its forks.
    Deleted,
    Alive(Box<Found>),
}

impl StreamInfo {
    /// Returns the properties of a stream that does not expire.
    pub(super) fn of(head: &Head, content_type: ContentType) -> Self {
        Self {
            number: head.number,
            content_type,
            next: end_of(head),
            closed: head.closed,
            ttl: None,
            expires_at: None,
        }
    }
}

fn end_of(head: &Head) -> Offset {
    Offset {
        term: head.term,
        next: head.next,
    }
}

impl Found {
    pub(super) fn end(&self) -> Offset {
        end_of(&self.head)
    }

    pub(super) fn content_type(&self) -> ContentType {
        ContentType::new(&self.row.content_type)
    }

    pub(super) fn info(&self) -> StreamInfo {
        StreamInfo {
            ttl: self.row.ttl,
            expires_at: self.row.expires_at,
            ..StreamInfo::of(&self.head, self.content_type())
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
        let Some(head) = self.parts.node.head(stream).await? else {
            return Ok(None);
        };
        let row = self.row_of(stream).await?;
        Ok(row.map(|row| Found { head, row }))
    }

    pub(super) async fn state(&self, path: &StreamPath) -> Result<State, StreamError> {
        let name = StreamRef::Name(path.name());
        let Some(head) = self.parts.node.store.head(name).await? else {
            return Ok(State::Missing);
        };
        let Some(row) = self.row_of(head.number).await? else {
            // The stream was removed between the two reads.
            return Ok(State::Missing);
        };
        let found = Box::new(Found { head, row });
        Ok(match found.row.deleted {
            true => State::Deleted,
            false if self.has_expired(&found.row) => State::Expired(found),
            false => State::Alive(found),
        })
    }

    /// Returns the stream at a path, if it exists and has not expired. Deletes an expired stream
    /// first, so that it stays expired if the clock is set back.
    pub(super) async fn find(&self, path: &StreamPath) -> Result<Found, StreamError> {
        loop {
            match self.state(path).await? {
                State::Alive(found) => return Ok(*found),
                State::Missing => return Err(StreamError::Missing),
                State::Deleted => return Err(StreamError::Gone),
                State::Expired(found) => {
                    self.delete_found(&found).await?;
                }
            }
        }
    }

    /// Returns the properties of a stream. This does not count as a use.
    pub async fn info(&self, path: &StreamPath) -> Result<StreamInfo, StreamError> {
        self.find(path).await.map(|found| found.info())
    }

    /// Subscribes to the paths of streams that are created, grow, are closed or are deleted on this
    /// node. Best effort: a slow subscriber misses some.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::broadcast::Receiver<StreamPath> {
        self.memory.changes.subscribe()
    }
}
