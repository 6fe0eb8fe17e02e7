//! The handle to the streams of an engine, and the documents of the server, which are streams with
//! reserved paths ([`StreamPath::internal`]).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use everstep_model::{RecordNumber, StreamNumber, Timestamp};
use everstep_store::{Commit, Guard, Row, RowChanges, RowKey, RowRange, SharedKey, SharedRow};

use super::error::{StreamError, committed};
use super::memory::StreamMemory;
use super::path::StreamPath;
use crate::commit::Document;
use crate::execution::Parts;

/// The streams of an engine. Clones are cheap.
// Large type: one method for each request about streams, in a file for each verb.
#[derive(Clone)]
pub struct Streams {
    pub(super) parts: Arc<Parts>,
    pub(crate) memory: Arc<StreamMemory>,
}

impl Streams {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self {
            parts,
            memory: Arc::default(),
        }
    }

    /// Commits a decision. Returns the stream and the first record of the commit, or `None` if the
    /// request must be decided again.
    pub(super) async fn commit(
        &self,
        commit: impl Into<Commit>,
    ) -> Result<Option<(StreamNumber, RecordNumber)>, StreamError> {
        committed(self.parts.committer.commit(commit).await?)
    }

    /// Returns the current time on the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.parts.node.now()
    }

    /// Returns the time since an arbitrary moment, on a monotonic clock.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.parts.node.runtime.elapsed()
    }

    /// Returns a random number from the engine's runtime.
    #[must_use]
    pub fn random(&self) -> u64 {
        self.parts.node.runtime.random()
    }

    /// Reads a document. `None` if it does not exist.
    pub async fn document(&self, path: &StreamPath) -> Result<Option<Document>, StreamError> {
        Ok(self.parts.committer.read_document(path.name()).await?)
    }

    /// Replaces the document that was read. Returns false if it has changed since then. The new
    /// content is durable when this returns.
    pub async fn put_document(
        &self,
        path: &StreamPath,
        read: Option<&Document>,
        bytes: Bytes,
    ) -> Result<bool, StreamError> {
        self.put_document_with(path, read, bytes, Default::default())
            .await
    }

    /// Like [`Streams::put_document`], and changes shared rows in the same commit, if these guards
    /// hold. A new document has none.
    pub async fn put_document_with(
        &self,
        path: &StreamPath,
        read: Option<&Document>,
        bytes: Bytes,
        rows: (RowChanges, Vec<Guard>),
    ) -> Result<bool, StreamError> {
        let committer = &self.parts.committer;
        let written = committer.write_document(path.name(), read, bytes, rows);
        Ok(written.await?)
    }

    /// Changes shared rows that belong to a document. Returns false if a guard refused the change,
    /// or the document does not exist any more.
    pub async fn change_rows(
        &self,
        of: &Document,
        rows: (RowChanges, Vec<Guard>),
    ) -> Result<bool, StreamError> {
        Ok(self.parts.committer.change_rows(of, rows).await?)
    }

    /// Returns a shared row.
    pub async fn shared_row(&self, key: SharedKey) -> Result<Option<SharedRow>, StreamError> {
        match self.parts.node.store.row(RowKey::Shared(key)).await? {
            Some(Row::Shared(row)) => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    /// Returns a range of shared rows.
    pub async fn shared_rows(&self, range: RowRange) -> Result<Vec<SharedRow>, StreamError> {
        Ok(self.parts.node.store.rows(range).await?)
    }

    /// Returns whether other nodes may use the same store.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.parts.node.is_shared
    }

    /// Removes a document. Returns false if it does not exist.
    pub async fn remove_document(&self, path: &StreamPath) -> Result<bool, StreamError> {
        Ok(self.parts.committer.remove_document(path.name()).await?)
    }
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Streams(node {})", self.parts.node.id)
    }
}
