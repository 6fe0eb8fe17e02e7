//! Activation tokens: the signed right of one session to append to one run.

use crate::auth::{Signer, random_bytes};

const PURPOSE: &str = "everstep activation";

/// Signs and verifies tokens. The key is never stored: sessions and their tokens end with the
/// process.
pub(super) struct Tokens(Signer);

impl Tokens {
    /// Creates a random key.
    ///
    /// # Panics
    /// If the system has no randomness.
    pub(super) fn new() -> Self {
        match random_bytes::<32>() {
            Ok(secret) => Self(Signer::new(&secret)),
            Err(_) => panic!("the system has no randomness"),
        }
    }

    /// Returns a token for a seat. The number of the seat represents the fence, which stays on the
    /// server.
    pub(super) fn sign(&self, session: &str, seat: u64) -> String {
        self.0.sign(PURPOSE, format!("{seat} {session}").as_bytes())
    }

    /// Returns the seat of a token that this process signed for this session.
    pub(super) fn verify(&self, token: &str, session: &str) -> Option<u64> {
        let content = self.0.open(PURPOSE, token)?;
        let (seat, owner) = str::from_utf8(&content).ok()?.split_once(' ')?;
        seat.parse().ok().filter(|_| owner == session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_session_and_unchanged_only() {
        let tokens = Tokens::new();
        let token = tokens.sign("s", 7);
        assert_eq!(tokens.verify(&token, "s"), Some(7));
        assert_eq!(tokens.verify(&token, "t"), None, "another session");
        assert_eq!(Tokens::new().verify(&token, "s"), None, "another process");
        let (_, signature) = token.split_once('.').unwrap();
        let other = tokens.sign("s", 8);
        let (content, _) = other.split_once('.').unwrap();
        assert_eq!(tokens.verify(&format!("{content}.{signature}"), "s"), None);
        for odd in ["", ".", "a.b", &token[1..], &format!("{token}x")] {
            assert_eq!(tokens.verify(odd, "s"), None, "{odd}");
        }
    }
}
