//! Documents: small states that nodes share, each a stream whose last record is the state.
//! Replacing one is a commit that appends the new state and drops the old one, unless another node
//! was faster.

use bytes::Bytes;
use everstep_model::record::Data;
use everstep_model::{Body, Record, RecordNumber, RecordRange, StreamName, StreamNumber};
use everstep_store::{
    Commit, CreateCommit, DeliverCommit, Guard, Outcome, Refusal, RemoveCommit, StoreError,
    StreamRef,
};

use super::committer::Committer;
use crate::error::Unavailable;

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    stream: StreamNumber,
    last: RecordNumber,
    /// The content.
    pub bytes: Bytes,
}

impl Committer {
    pub(crate) async fn read_document(
        &self,
        name: StreamName,
    ) -> Result<Option<Document>, StoreError> {
        let Some(head) = self.node.store.head(StreamRef::Name(name)).await? else {
            return Ok(None);
        };
        let from = RecordNumber(head.next.0.saturating_sub(1));
        let page = self.node.read(head.number, from, 2).await?;
        // The document may have been replaced since the head was read, so the last entry counts.
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

    /// Replaces what was read. Returns false if the document has changed since then.
    pub(crate) async fn write_document(
        &self,
        name: StreamName,
        read: Option<&Document>,
        bytes: Bytes,
    ) -> Result<bool, Unavailable> {
        self.check_open()?;
        let now = self.node.now();
        let record = Record {
            time: now,
            body: Data { bytes, ends: true }.into(),
        };
        let commit: Commit = match read {
            Some(read) => {
                let mut commit = DeliverCommit::new(read.stream, now);
                commit.records.push(record);
                commit.guards.push(Guard::EndsAt(read.last.plus(1)));
                let (first, last) = (RecordNumber(0), read.last);
                commit.drop.push(RecordRange { first, last });
                commit.into()
            }
            None => {
                let mut commit = CreateCommit::new(name, now);
                commit.records.push(record);
                commit.into()
            }
        };
        match self.commit(commit).await? {
            Outcome::Committed { .. } | Outcome::Duplicate { .. } => Ok(true),
            Outcome::Refused(
                Refusal::Exists(_) | Refusal::NoStream | Refusal::EndsElsewhere(_),
            ) => Ok(false),
            Outcome::Refused(refusal) => {
                let detail = refusal.to_string();
                Err(StoreError::Unavailable { detail }.into())
            }
        }
    }

    /// Removes a document. Returns false if it does not exist.
    pub(crate) async fn remove_document(&self, name: StreamName) -> Result<bool, StoreError> {
        let Some(head) = self.node.store.head(StreamRef::Name(name)).await? else {
            return Ok(false);
        };
        let commit = RemoveCommit::new(vec![head.number], self.node.now());
        let outcome = self.commit(commit).await?;
        Ok(matches!(outcome, Outcome::Committed { .. }))
    }
}
