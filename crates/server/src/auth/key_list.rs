//! The API keys of a store: one document, cached in memory for a short time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use everstep_engine::Engine;
use everstep_engine::streams::{Document, StreamError, StreamPath, Streams};
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyView};
use everstep_store::StoreError;
use serde::{Deserialize, Serialize};

use super::key::{StoredKey, check, parts};

const PATH: &str = "__ds/auth/keys";
const KEYS_MAX: usize = 1_000;
/// How long another node on the same store may accept a revoked key.
const CACHE_AGE_MAX: Duration = Duration::from_secs(1);
/// How long another node may reject a new key. Limits the reads that requests with guessed keys
/// cause.
const CACHE_AGE_MIN: Duration = Duration::from_millis(100);

/// Why a key was not created or revoked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The request is invalid.
    #[error("{0}")]
    Invalid(&'static str),
    /// The maximum number of keys exists.
    #[error("the limit of 1,000 keys is reached; revoke one")]
    TooMany,
    /// The store could not be read or written.
    #[error(transparent)]
    Failed(#[from] StreamError),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct KeyDocument {
    keys: Vec<StoredKey>,
}

struct Cache {
    keys: Arc<Vec<StoredKey>>,
    /// On the monotonic clock, so that a revoked key does not become valid again when the wall clock
    /// is set back.
    read_at: Duration,
}

/// The API keys of a store. Clones share the cache.
#[derive(Clone)]
pub struct Keys {
    streams: Streams,
    cache: Arc<Mutex<Option<Cache>>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Keys {
    /// Returns the keys of an engine's store.
    #[must_use]
    pub fn of(engine: impl AsRef<Engine>) -> Self {
        Self {
            streams: engine.as_ref().streams(),
            cache: Arc::default(),
        }
    }

    /// Creates a key. Only the returned value contains its secret.
    pub async fn create(
        &self,
        request: CreateKey,
        by: Option<&str>,
    ) -> Result<CreatedKey, KeyError> {
        check(&request).map_err(KeyError::Invalid)?;
        let (stored, text) = StoredKey::create(request, by, self.streams.now())?;
        let made = self.change(|keys| {
            if keys.len() >= KEYS_MAX {
                return Err(KeyError::TooMany);
            }
            keys.push(stored.clone());
            Ok(true)
        });
        made.await?;
        Ok(CreatedKey {
            key: text.expose().to_owned(),
            view: stored.view,
        })
    }

    /// Revokes a key and the run tokens that it created. Returns false if there is no such key.
    pub async fn revoke(&self, id: &str) -> Result<bool, KeyError> {
        let revoked = self.change(|keys| {
            let before = keys.len();
            keys.retain(|key| key.view.id != id);
            Ok(keys.len() < before)
        });
        revoked.await
    }

    /// Returns all keys, the oldest first.
    pub async fn list(&self) -> Result<Vec<KeyView>, StreamError> {
        let (_, document) = self.read().await?;
        Ok(document.keys.into_iter().map(|key| key.view).collect())
    }

    /// Returns the key with this text, if it is valid.
    pub(super) async fn find(&self, text: &Secret) -> Result<Option<StoredKey>, StreamError> {
        let Some((id, secret)) = parts(text.expose()) else {
            return Ok(None);
        };
        let found = self.with_id(id).await?;
        Ok(found.filter(|key| key.has_secret(secret)))
    }

    /// Returns the key with this id. Refreshes a cache that lacks it, unless the cache is very recent.
    pub(super) async fn with_id(&self, id: &str) -> Result<Option<StoredKey>, StreamError> {
        for age_max in [CACHE_AGE_MAX, CACHE_AGE_MIN] {
            let keys = self.recent(age_max).await?;
            if let Some(key) = keys.iter().find(|key| key.view.id == id) {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    async fn recent(&self, age_max: Duration) -> Result<Arc<Vec<StoredKey>>, StreamError> {
        let now = self.streams.elapsed();
        if let Some(copy) = &*self.memory()
            && now.saturating_sub(copy.read_at) < age_max
        {
            return Ok(copy.keys.clone());
        }
        let (_, document) = self.read().await?;
        Ok(self.remember(document, now))
    }

    async fn read(&self) -> Result<(Option<Document>, KeyDocument), StreamError> {
        let read = self.streams.document(&StreamPath::internal(PATH)?).await?;
        let document = match &read {
            Some(read) => serde_json::from_slice(&read.bytes).map_err(|error| {
                StreamError::from(StoreError::corrupt("the list of keys", error.to_string()))
            })?,
            None => KeyDocument::default(),
        };
        Ok((read, document))
    }

    /// Changes the list, and retries if another node changed it concurrently. `change` returns whether
    /// there is something to write.
    async fn change(
        &self,
        mut change: impl FnMut(&mut Vec<StoredKey>) -> Result<bool, KeyError>,
    ) -> Result<bool, KeyError> {
        let path = StreamPath::internal(PATH).map_err(StreamError::from)?;
        loop {
            let (read, mut document) = self.read().await?;
            if !change(&mut document.keys)? {
                return Ok(false);
            }
            let bytes = serde_json::to_vec(&document).unwrap_or_default();
            let now = self.streams.elapsed();
            let put = self
                .streams
                .put_document(&path, read.as_ref(), bytes.into());
            if put.await? {
                self.remember(document, now);
                return Ok(true);
            }
        }
    }

    fn remember(&self, document: KeyDocument, read_at: Duration) -> Arc<Vec<StoredKey>> {
        let keys = Arc::new(document.keys);
        *self.memory() = Some(Cache {
            keys: keys.clone(),
            read_at,
        });
        keys
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Option<Cache>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use everstep::testing::{VirtualRuntime, virtual_time};
    use everstep_protocol::access::Scope;

    use super::*;

    #[test]
    fn another_node_learns_of_a_revoked_key_even_if_its_clock_is_set_back() {
        virtual_time(async {
            let clock = Arc::new(VirtualRuntime::new(1));
            let engine = everstep::Engine::in_memory().runtime(clock.clone());
            let engine = engine.start().await.unwrap();
            let (one, other) = (Keys::of(&engine), Keys::of(&engine));
            let request = CreateKey {
                name: "web".to_owned(),
                scopes: vec![Scope::Read],
                workflows: Vec::new(),
                reaches: Vec::new(),
            };
            let id = one.create(request, None).await.unwrap().view.id;
            assert!(other.with_id(&id).await.unwrap().is_some());
            clock.set_clock_error(-3_600_000);
            assert!(one.revoke(&id).await.unwrap());
            tokio::time::advance(CACHE_AGE_MAX).await;
            assert!(other.with_id(&id).await.unwrap().is_none());
        });
    }
}
