//! The signing key of webhooks and wake tokens. It is created once, kept in the store, and
//! published as a JSON Web Key Set.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_engine::streams::{StreamError, Streams};
use everstep_store::StoreError;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::auth::stored_secret;

const SEED_BYTES: usize = 32;
const PATH: &str = "__ds/signing-key";

pub(crate) struct Keys {
    pair: Ed25519KeyPair,
    pub(super) id: String,
}

/// The wake that a token was issued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenWake<'a> {
    pub(super) id: &'a str,
    pub(super) generation: u64,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.id)
    }
}

impl Keys {
    fn of_seed(seed: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let digest = ring::digest::digest(&ring::digest::SHA256, pair.public_key().as_ref());
        let start = digest.as_ref().get(..12)?;
        Some(Self {
            id: format!("ds_{}", URL_SAFE_NO_PAD.encode(start)),
            pair,
        })
    }

    /// Returns the key of this store. The first call creates it.
    pub(super) async fn of_store(streams: &Streams) -> Result<Self, StreamError> {
        let seed = stored_secret::<SEED_BYTES>(streams, PATH).await?;
        let invalid = || StoreError::corrupt("the signing key", "it is not a seed of Ed25519");
        Ok(Self::of_seed(&seed).ok_or_else(invalid)?)
    }

    pub(super) fn sign(&self, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.sign(text))
    }

    /// Returns the value of the signature header of a webhook call.
    pub(super) fn signature(&self, unix_seconds: u64, body: &str) -> String {
        let signed = self.sign(format!("{unix_seconds}.{body}").as_bytes());
        format!("t={unix_seconds},kid={},ed25519={signed}", self.id)
    }

    /// Returns the token of a woken subscriber, valid for one wake of one subscription. It contains
    /// the wake, so that it can be checked before the body of a request is read.
    pub(super) fn token(&self, subscription: &str, wake_id: &str, generation: u64) -> String {
        let signature = self.sign(claim(subscription, wake_id, generation).as_bytes());
        format!("{generation}.{signature}.{wake_id}")
    }

    /// Returns the wake of a token, if this key signed it for the subscription.
    pub(super) fn wake_of<'a>(&self, token: &'a str, subscription: &str) -> Option<TokenWake<'a>> {
        let (generation, rest) = token.split_once('.')?;
        let (signature, id) = rest.split_once('.')?;
        let generation = generation.parse().ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(&ED25519, self.pair.public_key().as_ref());
        let claim = claim(subscription, id, generation);
        key.verify(claim.as_bytes(), &signature).ok()?;
        Some(TokenWake { id, generation })
    }

    /// Returns the public key as a JSON Web Key Set.
    pub(super) fn published(&self) -> Value {
        json!({"keys": [{
            "kty": "OKP",
            "crv": "Ed25519",
            "x": URL_SAFE_NO_PAD.encode(self.pair.public_key().as_ref()),
            "kid": self.id,
            "use": "sig",
            "alg": "EdDSA",
        }]})
    }
}

/// Returns the signed content of a token. It cannot be confused with that of a webhook signature,
/// which begins with a timestamp.
fn claim(subscription: &str, wake_id: &str, generation: u64) -> String {
    format!("wake\n{subscription}\n{wake_id}\n{generation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_own_wake_only() {
        let keys = Keys::of_seed(&[7; SEED_BYTES]).unwrap();
        let token = keys.token("s", "w", 3);
        let wake = TokenWake {
            id: "w",
            generation: 3,
        };
        assert_eq!(keys.wake_of(&token, "s"), Some(wake));
        assert_eq!(keys.wake_of(&token, "t"), None);
        let signature = token.split('.').nth(1).unwrap();
        for forged in [
            "",
            "&",
            "..",
            signature,
            &format!("4.{signature}.w"),
            &format!("3.{signature}.v"),
            "3..w",
        ] {
            assert_eq!(keys.wake_of(forged, "s"), None, "{forged}");
        }
        let other = Keys::of_seed(&[8; SEED_BYTES]).unwrap();
        assert_eq!(other.wake_of(&token, "s"), None);
    }
}
