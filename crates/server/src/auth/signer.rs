//! Signatures of tokens, and the secrets they need. A secret is kept in the store, so that all
//! nodes share it. That of the tokens can be replaced, which ends all tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use everstep_engine::streams::{StreamError, StreamPath, Streams};
use everstep_store::StoreError;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

use super::cached_document::Content;

const SECRET_BYTES: usize = 32;

/// Signs and verifies content. A signature is valid for one purpose only.
pub(crate) struct Signer(hmac::Key);

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer(…)")
    }
}

impl Signer {
    pub(crate) fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns the content and its signature as text without spaces.
    pub(crate) fn sign(&self, purpose: &str, content: &[u8]) -> String {
        let tag = self.tag(purpose, content);
        let content = URL_SAFE_NO_PAD.encode(content);
        format!("{content}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    /// Returns the content if the signature is valid for this purpose. Compares in constant time.
    pub(crate) fn open(&self, purpose: &str, text: &str) -> Option<Vec<u8>> {
        let (content, tag) = text.split_once('.')?;
        let content = URL_SAFE_NO_PAD.decode(content).ok()?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        let is_valid = self.tag(purpose, &content).as_ref().ct_eq(&tag);
        bool::from(is_valid).then_some(content)
    }

    /// Computes a signature. A purpose contains no line break, so the signed text is unambiguous.
    fn tag(&self, purpose: &str, content: &[u8]) -> hmac::Tag {
        let mut signed = hmac::Context::with_key(&self.0);
        for part in [purpose.as_bytes(), b"\n", content] {
            signed.update(part);
        }
        signed.sign()
    }
}

/// The secret that signs tokens. There is none before the first token.
pub(super) struct SigningSecret(Option<Vec<u8>>);

impl Content for SigningSecret {
    const PATH: &'static str = "__ds/auth/secret";

    fn decode(bytes: Option<&[u8]>) -> Result<Self, StreamError> {
        Ok(Self(bytes.map(<[u8]>::to_vec)))
    }

    fn encode(&self) -> Vec<u8> {
        self.0.clone().unwrap_or_default()
    }
}

impl SigningSecret {
    pub(super) fn signer(&self) -> Option<Signer> {
        self.0.as_deref().map(Signer::new)
    }

    pub(super) fn replace(&mut self) -> Result<(), StreamError> {
        self.0 = Some(random_bytes::<SECRET_BYTES>()?.to_vec());
        Ok(())
    }
}

/// Returns the secret at a path of the store. The first call creates it.
pub(crate) async fn stored_secret<const N: usize>(
    streams: &Streams,
    path: &str,
) -> Result<Bytes, StreamError> {
    let path = StreamPath::internal(path)?;
    loop {
        if let Some(known) = streams.document(&path).await? {
            return Ok(known.bytes);
        }
        let created = random_bytes::<N>()?.to_vec();
        streams.put_document(&path, None, created.into()).await?;
    }
}

/// Returns cryptographically secure random bytes.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StreamError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StoreError::Unavailable {
        detail: "the system gives no random numbers".to_owned(),
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_for_its_purpose_only() {
        let signer = Signer::new(&[7; SECRET_BYTES]);
        let text = signer.sign("run", b"content");
        assert_eq!(signer.open("run", &text).as_deref(), Some(&b"content"[..]));
        assert_eq!(signer.open("activation", &text), None);
        assert_eq!(Signer::new(&[8; 32]).open("run", &text), None);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(signer.open("run", &changed), None, "at {at}");
        }
        for nonsense in ["", ".", "a.b", "..", "content"] {
            assert_eq!(signer.open("run", nonsense), None);
        }
    }
}
