//! Activation tokens: the right to append to one run, signed, good for one session of this process.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use everstep_model::{Generation, RunId};
use ring::hmac;
use ring::rand::SystemRandom;
use serde::{Deserialize, Serialize};

/// Signs and reads tokens. A session ends with its process, and so do the tokens of its runs.
pub(super) struct Tokens(hmac::Key);

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Right {
    /// The session it was given to.
    #[serde(rename = "s")]
    pub(super) session: String,
    /// The number of the activation; it stands for the fence, which does not leave the server.
    #[serde(rename = "n")]
    pub(super) seat: u64,
    /// The run, for those who read logs.
    #[serde(rename = "r")]
    pub(super) run: RunId,
    /// Its life.
    #[serde(rename = "g")]
    pub(super) generation: Generation,
}

impl Tokens {
    /// Under a key that nobody knows.
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
        let said = serde_json::to_vec(right).unwrap_or_default();
        let said = URL_SAFE_NO_PAD.encode(said);
        let signature = hmac::sign(&self.0, said.as_bytes());
        format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    /// What a token says, if it was signed here for this session.
    pub(super) fn read(&self, token: &str, session: &str) -> Option<Right> {
        let (said, signature) = token.split_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.0, said.as_bytes(), &signature).ok()?;
        let said = URL_SAFE_NO_PAD.decode(said).ok()?;
        let right: Right = serde_json::from_slice(&said).ok()?;
        (right.session == session).then_some(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_session_and_as_it_was_signed() {
        let tokens = Tokens::new();
        let right = Right {
            session: "s".to_owned(),
            seat: 7,
            run: RunId::new("r").unwrap(),
            generation: Generation::FIRST,
        };
        let token = tokens.sign(&right);
        assert_eq!(tokens.read(&token, "s"), Some(right.clone()));
        assert_eq!(tokens.read(&token, "t"), None, "another session");
        assert_eq!(Tokens::new().read(&token, "s"), None, "another process");
        let (_, signature) = token.split_once('.').unwrap();
        let other = Right { seat: 8, ..right };
        let other = tokens.sign(&other);
        let (said, _) = other.split_once('.').unwrap();
        assert_eq!(tokens.read(&format!("{said}.{signature}"), "s"), None);
        for odd in ["", ".", "a.b", &token[1..], &format!("{token}x")] {
            assert_eq!(tokens.read(odd, "s"), None, "{odd}");
        }
    }
}
