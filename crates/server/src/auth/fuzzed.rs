//! What tests that feed nonsense may see of this module.

use axum::http::{HeaderMap, HeaderValue, header};
use everstep_model::Timestamp;
use everstep_protocol::access::{CreateKey, MintToken};

use super::run_token::RunToken;
use super::signer::Signer;
use super::{identify, key};

/// The token that a text is, written again; none if it is none. The secret is one that nobody guesses.
pub(crate) fn token(text: &str) -> Option<String> {
    let signer = Signer::new(b"a secret of this test");
    let opened = RunToken::open(&signer, text, Timestamp::default()).ok()?;
    Some(opened.signed(&signer))
}

/// The length of what a header shows, and whether it may be a key.
pub(crate) fn shown(value: &[u8]) -> Option<(usize, bool)> {
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, HeaderValue::from_bytes(value).ok()?);
    let shown = identify::bearer(&headers)?;
    let text = shown.expose();
    Some((text.len(), key::parts(text).is_some()))
}

/// Whether a body asks for a key that may be made, or for a token.
pub(crate) fn asked(body: &[u8]) -> (bool, bool) {
    let key = serde_json::from_slice::<CreateKey>(body);
    let token = serde_json::from_slice::<MintToken>(body);
    (
        key.is_ok_and(|asked| key::check(&asked).is_ok()),
        token.is_ok(),
    )
}
