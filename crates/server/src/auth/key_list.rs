//! The API keys of a store, and the secret that signs tokens.

use std::sync::Arc;

use everstep_engine::Engine;
use everstep_engine::streams::{StreamError, Streams};
use everstep_protocol::Secret;
use everstep_protocol::access::{CreateKey, CreatedKey, KeyView};
use everstep_store::StoreError;
use serde::{Deserialize, Serialize};

use super::cached_document::{AGE_MAX, AGE_MIN, CachedDocument, Content};
use super::key::{StoredKey, check, parts};
use super::signer::{Signer, SigningSecret};
use super::token::{InvalidToken, Token};

const KEYS_MAX: usize = 1_000;

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

impl Content for KeyDocument {
    const PATH: &'static str = "__ds/auth/keys";

    fn decode(bytes: Option<&[u8]>) -> Result<Self, StreamError> {
        let Some(bytes) = bytes else {
            return Ok(Self::default());
        };
        serde_json::from_slice(bytes)
            .map_err(|error| StoreError::corrupt("the list of keys", error.to_string()).into())
    }

    fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The API keys of a store, and the secret that signs its tokens. Clones share the copies in
/// memory.
#[derive(Clone)]
pub struct Keys {
    streams: Streams,
    keys: Arc<CachedDocument<KeyDocument>>,
    secret: Arc<CachedDocument<SigningSecret>>,
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
        let streams = engine.as_ref().streams();
        Self {
            keys: Arc::new(CachedDocument::new(streams.clone())),
            secret: Arc::new(CachedDocument::new(streams.clone())),
            streams,
        }
    }

    /// Checks a request for a new key without creating it.
    ///
    /// # Errors
    /// [`KeyError::Invalid`] if the key cannot exist.
    pub fn check(request: &CreateKey) -> Result<(), KeyError> {
        check(request).map_err(KeyError::Invalid)
    }

    /// Creates a key. Only the returned value contains its secret.
    pub async fn create(
        &self,
        request: CreateKey,
        by: Option<&str>,
    ) -> Result<CreatedKey, KeyError> {
        Self::check(&request)?;
        let (stored, text) = StoredKey::create(request, by, self.streams.now())?;
        let made = self.keys.change(|document| {
            if document.keys.len() >= KEYS_MAX {
                return Err(KeyError::TooMany);
            }
            document.keys.push(stored.clone());
            Ok(true)
        });
        made.await?;
        Ok(CreatedKey {
            key: text.expose().to_owned(),
            view: stored.view,
        })
    }

    /// Revokes a key and the tokens that it created. Returns false if there is no such key.
    pub async fn revoke(&self, id: &str) -> Result<bool, KeyError> {
        let revoked = self.keys.change(|document| {
            let before = document.keys.len();
            document.keys.retain(|key| key.view.id != id);
            Ok(document.keys.len() < before)
        });
        revoked.await
    }

    /// Returns all keys, the oldest first.
    pub async fn list(&self) -> Result<Vec<KeyView>, StreamError> {
        let (_, document) = self.keys.read().await?;
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

    /// Returns the key with this id. Refreshes a copy that lacks it, unless the copy is very
    /// recent.
    pub(super) async fn with_id(&self, id: &str) -> Result<Option<StoredKey>, StreamError> {
        for age_max in [AGE_MAX, AGE_MIN] {
            let document = self.keys.recent(age_max).await?;
            if let Some(key) = document.keys.iter().find(|key| key.view.id == id) {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    /// Replaces the secret that signs tokens, which ends all tokens.
    pub async fn rotate_secret(&self) -> Result<(), KeyError> {
        let rotated = self.secret.change(|secret| {
            secret.replace()?;
            Ok::<_, KeyError>(true)
        });
        rotated.await.map(|_| ())
    }

    /// Signs a token with the current secret, which another node may just have replaced. The first
    /// call creates the secret.
    pub(crate) async fn sign(&self, token: &impl Token) -> Result<String, StreamError> {
        Ok(token.signed(&self.current_signer().await?))
    }

    /// Opens a token. Refreshes a secret that did not sign it, unless the copy is very recent.
    pub(super) async fn open<T: Token>(
        &self,
        text: &str,
    ) -> Result<Result<T, InvalidToken>, StreamError> {
        for age_max in [AGE_MAX, AGE_MIN] {
            let secret = self.secret.recent(age_max).await?;
            let opened = secret.signer();
            let opened = opened.map(|signer| T::open(&signer, text, self.streams.now()));
            match opened {
                Some(Err(InvalidToken::Forged)) | None => {}
                Some(opened) => return Ok(opened),
            }
        }
        Ok(Err(InvalidToken::Forged))
    }

    pub(crate) async fn current_signer(&self) -> Result<Signer, StreamError> {
        loop {
            let (_, secret) = self.secret.read().await?;
            if let Some(signer) = secret.signer() {
                return Ok(signer);
            }
            let created = self.secret.change(|secret| {
                let is_missing = secret.signer().is_none();
                if is_missing {
                    secret.replace()?;
                }
                Ok::<_, StreamError>(is_missing)
            });
            created.await?;
        }
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
            let request = CreateKey::new("web", [Scope::Read]);
            let id = one.create(request, None).await.unwrap().view.id;
            assert!(other.with_id(&id).await.unwrap().is_some());
            clock.set_clock_error(-3_600_000);
            assert!(one.revoke(&id).await.unwrap());
            tokio::time::advance(AGE_MAX).await;
            assert!(other.with_id(&id).await.unwrap().is_none());
        });
    }
}
