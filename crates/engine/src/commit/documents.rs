//! Documents: small states that nodes share, each a stream whose last record is the state.
//! Replacing one is a commit that appends the new state and drops the old one, unless another node
//! was faster.

use bytes::Bytes;
use everstep_model::record::Data;
use everstep_model::{Body, Record, RecordNumber, RecordRange, StreamName, StreamNumber};
use everstep_store::{
    Commit, CreateCommit, DeliverCommit, Guard, Outcome, Refusal, RemoveCommit, RowChanges,
    RowsCommit, StoreError, StreamRef,
};

use super::committer::Committer;
use crate::error::Unavailable;

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Identifies the document among all that were ever at its path.
    pub stream: StreamNumber,
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
        (rows, guards): (RowChanges, Vec<Guard>),
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
                commit.rows = rows;
                commit.guards = guards;
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
        is_written(self.commit(commit).await?)
    }

    /// Changes shared rows that belong to a document. Returns false if a guard refused the change,
    /// or the document does not exist any more.
    pub(crate) async fn change_rows(
        &self,
        of: &Document,
        (rows, guards): (RowChanges, Vec<Guard>),
    ) -> Result<bool, Unavailable> {
        self.check_open()?;
        let mut commit = RowsCommit::new(of.stream, self.node.now());
        commit.rows = rows;
        commit.guards = guards;
        is_written(self.commit(commit).await?)
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

/// Returns false if the state that was read has changed.
fn is_written(outcome: Outcome) -> Result<bool, Unavailable> {
    match outcome {
        Outcome::Committed { .. } | Outcome::Duplicate { .. } => Ok(true),
        Outcome::Refused(
            Refusal::Exists(_)
            | Refusal::NoStream
            | Refusal::EndsElsewhere(_)
            | Refusal::RowPresent(_)
            | Refusal::RowAbsent
            | Refusal::RowChanged,
        ) => Ok(false),
        Outcome::Refused(refusal) => {
            let detail = refusal.to_string();
            Err(StoreError::Unavailable { detail }.into())
        }
    }
}
