//! Documents: small states that the server keeps, each a stream whose last record is the state. Replacing one is a commit that
//! appends the new state and drops the old, if nobody else has.

use bytes::Bytes;
use everstep_model::record::Data;
use everstep_model::{Body, Record, RecordNumber, RecordRange, StreamNumber};
use everstep_store::{
    Commit, CreateCommit, DeliverCommit, Guard, Outcome, ReadRequest, Refusal, RemoveCommit,
    StoreError, StreamRef,
};

use super::Streams;
use super::error::StreamError;
use super::path::StreamPath;

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    stream: StreamNumber,
    last: RecordNumber,
    /// What it says.
    pub bytes: Bytes,
}

impl Streams {
    /// Reads a document; none if there is none. Its path is one that is kept back ([`StreamPath::internal`]).
    pub async fn document(&self, path: &StreamPath) -> Result<Option<Document>, StreamError> {
        let Some(head) = self.core.store.head(StreamRef::Name(path.name())).await? else {
            return Ok(None);
        };
        let request = ReadRequest {
            stream: head.number,
            from: RecordNumber(head.next.0.saturating_sub(1)),
            limit: 2,
            bytes: usize::MAX,
        };
        let page = self.core.store.read(request).await?;
        // It may have been replaced since its head was read.
        let last = page.and_then(|page| page.entries.into_iter().last());
        Ok(last.and_then(|entry| match entry.record.body {
            Body::Data(data) => Some(Document {
                stream: head.number,
                last: entry.number,
                bytes: data.bytes,
            }),
            _ => None,
        }))
    }

    /// Writes a document in the place of what was read; false if that has changed. It is durable when this returns.
    pub async fn put_document(
        &self,
        path: &StreamPath,
        read: Option<&Document>,
        bytes: Bytes,
    ) -> Result<bool, StreamError> {
        self.core.check_open()?;
        let now = self.core.runtime.now();
        let record = Record {
            time: now,
            body: Data { bytes, ends: true }.into(),
        };
        let commit: Commit = match read {
            Some(read) => {
                let mut commit = DeliverCommit::new(read.stream, now);
                commit.records.push(record);
                commit.guards.push(Guard::EndsAt(read.last.plus(1)));
                commit.drop.push(RecordRange {
                    first: RecordNumber(0),
                    last: read.last,
                });
                commit.into()
            }
            None => {
                let mut commit = CreateCommit::new(path.name(), now);
                commit.records.push(record);
                commit.into()
            }
        };
        match self.core.committer.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => Ok(true),
            Outcome::Refused(
                Refusal::Exists(_) | Refusal::NoStream | Refusal::EndsElsewhere(_),
            ) => Ok(false),
            Outcome::Refused(refusal) => Err(StoreError::Unavailable {
                detail: refusal.to_string(),
            }
            .into()),
        }
    }

    /// Removes a document; false if there was none.
    pub async fn remove_document(&self, path: &StreamPath) -> Result<bool, StreamError> {
        let Some(head) = self.core.store.head(StreamRef::Name(path.name())).await? else {
            return Ok(false);
        };
        let commit = RemoveCommit::new(vec![head.number], self.core.runtime.now());
        let outcome = self.core.committer.commit(commit).await?;
        Ok(matches!(outcome, Outcome::Committed { .. }))
    }
}
