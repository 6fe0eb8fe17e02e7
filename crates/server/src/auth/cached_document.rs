//! A document of the store with a copy in memory. A copy serves requests for a short time, after
//! which it is read again, because another node may have changed the document.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everstep_engine::streams::{Document, StreamError, StreamPath, Streams};

/// How old a copy is at most if a request uses it: how long this node may accept what another node
/// has revoked.
pub(super) const AGE_MAX: Duration = Duration::from_millis(500);
/// How old a copy is at least if a request that it rejects causes a read: how long this node may
/// reject what another node has created. Limits the reads that requests with guessed credentials
/// cause.
pub(super) const AGE_MIN: Duration = Duration::from_millis(100);

/// The content of a document.
pub(super) trait Content: Sized {
    const PATH: &'static str;

    /// Decodes the stored bytes. There are none before the first change.
    fn decode(bytes: Option<&[u8]>) -> Result<Self, StreamError>;
    fn encode(&self) -> Vec<u8>;
}

struct Cached<T> {
    content: Arc<T>,
    /// On the monotonic clock, so that something revoked does not become valid again when the wall
    /// clock is set back.
    read_at: Duration,
}

pub(super) struct CachedDocument<T> {
    streams: Streams,
    copy: Mutex<Option<Cached<T>>>,
    /// Held while the document is read or changed, so that many requests cause one read, and none
    /// replaces the copy of a change by an older one.
    reading: tokio::sync::Mutex<()>,
}

impl<T: Content> CachedDocument<T> {
    pub(super) fn new(streams: Streams) -> Self {
        Self {
            streams,
            copy: Mutex::new(None),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the content as it was at most this long ago.
    pub(super) async fn recent(&self, age_max: Duration) -> Result<Arc<T>, StreamError> {
        if let Some(content) = self.copy_within(age_max) {
            return Ok(content);
        }
        let _reading = self.reading.lock().await;
        if let Some(content) = self.copy_within(age_max) {
            return Ok(content);
        }
        let now = self.streams.elapsed();
        let (_, content) = self.read().await?;
        Ok(self.remember(content, now))
    }

    /// Reads the content from the store.
    pub(super) async fn read(&self) -> Result<(Option<Document>, T), StreamError> {
        let path = StreamPath::internal(T::PATH)?;
        let read = self.streams.document(&path).await?;
        let content = T::decode(read.as_ref().map(|read| &*read.bytes))?;
        Ok((read, content))
    }

    /// Changes the content, and retries if another node changed it concurrently. `change` returns
    /// whether there is something to write.
    pub(super) async fn change<E: From<StreamError>>(
        &self,
        mut change: impl FnMut(&mut T) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let path = StreamPath::internal(T::PATH).map_err(StreamError::from)?;
        let _reading = self.reading.lock().await;
        loop {
            let (read, mut content) = self.read().await?;
            if !change(&mut content)? {
                return Ok(false);
            }
            let bytes = content.encode().into();
            let now = self.streams.elapsed();
            let put = self.streams.put_document(&path, read.as_ref(), bytes);
            if put.await? {
                self.remember(content, now);
                return Ok(true);
            }
        }
    }

    fn copy_within(&self, age_max: Duration) -> Option<Arc<T>> {
        let now = self.streams.elapsed();
        let copy = self.copy();
        let copy = copy.as_ref();
        let copy = copy.filter(|copy| now.saturating_sub(copy.read_at) < age_max);
        copy.map(|copy| copy.content.clone())
    }

    fn remember(&self, content: T, read_at: Duration) -> Arc<T> {
        let content = Arc::new(content);
        *self.copy() = Some(Cached {
            content: content.clone(),
            read_at,
        });
        content
    }

    fn copy(&self) -> MutexGuard<'_, Option<Cached<T>>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
