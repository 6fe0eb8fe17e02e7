//! Documents of the server, which are streams with reserved paths ([`StreamPath::internal`]).

use bytes::Bytes;

use super::error::StreamError;
use super::handle::Streams;
use super::path::StreamPath;
use crate::commit::Document;

impl Streams {
    /// Reads a document. `None` if it does not exist.
    pub async fn document(&self, path: &StreamPath) -> Result<Option<Document>, StreamError> {
        Ok(self.parts.documents.read(path.name()).await?)
    }

    /// Replaces the document that was read. Returns false if it has changed since then. The new
    /// content is durable when this returns.
    pub async fn put_document(
        &self,
        path: &StreamPath,
        read: Option<&Document>,
        bytes: Bytes,
    ) -> Result<bool, StreamError> {
        Ok(self.parts.documents.write(path.name(), read, bytes).await?)
    }

    /// Removes a document. Returns false if it does not exist.
    pub async fn remove_document(&self, path: &StreamPath) -> Result<bool, StreamError> {
        Ok(self.parts.documents.remove(path.name()).await?)
    }
}
