//! Activation tokens: the signed right of one session to append to one run.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_model::{Generation, RunId};
use ring::hmac;
use ring::rand::SystemRandom;
use serde::{Deserialize, Serialize};

/// Signs and verifies tokens. The key is never stored: sessions and their tokens end with the process.
pub(super) struct Tokens(hmac::Key);

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Right {
    #[serde(rename = "s")]
    pub(super) session: String,
    /// The number of the seat. It stands for the fence, which stays on the server.
    #[serde(rename = "n")]
    pub(super) seat: u64,
    /// For logs only.
    #[serde(rename = "r")]
    pub(super) run: RunId,
    #[serde(rename = "g")]
    pub(super) generation: Generation,
}

impl Tokens {
    /// Creates a random key.
    ///
    /// # Panics
    /// If the system has no randomness.
    pub(super) fn new() -> Self {
        match hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()) {
            Ok(key) => Self(key),
            Err(_) => panic!("the system has no randomness"),
        }
    }

    pub(super) fn sign(&self, right: &Right) -> String {
        let content = serde_json::to_vec(right).unwrap_or_default();
        let content = URL_SAFE_NO_PAD.encode(content);
        let signature = hmac::sign(&self.0, content.as_bytes());
        format!("{content}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    /// Returns the content of a token that this process signed for this session.
    pub(super) fn verify(&self, token: &str, session: &str) -> Option<Right> {
        let (content, signature) = token.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.0, content.as_bytes(), &signature).ok()?;
        let content = URL_SAFE_NO_PAD.decode(content).ok()?;
        let right: Right = serde_json::from_slice(&content).ok()?;
        (right.session == session).then_some(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_session_and_unchanged_only() {
        let tokens = Tokens::new();
        let right = Right {
            session: "s".to_owned(),
            seat: 7,
            run: RunId::new("r").unwrap(),
            generation: Generation::FIRST,
        };
        let token = tokens.sign(&right);
        assert_eq!(tokens.verify(&token, "s"), Some(right.clone()));
        assert_eq!(tokens.verify(&token, "t"), None, "another session");
        assert_eq!(Tokens::new().verify(&token, "s"), None, "another process");
        let (_, signature) = token.split_once('.').unwrap();
        let other = Right { seat: 8, ..right };
        let other = tokens.sign(&other);
        let (content, _) = other.split_once('.').unwrap();
        assert_eq!(tokens.verify(&format!("{content}.{signature}"), "s"), None);
        for odd in ["", ".", "a.b", &token[1..], &format!("{token}x")] {
            assert_eq!(tokens.verify(odd, "s"), None, "{odd}");
        }
    }
}
