//! Access for the fuzz tests.

use axum::http::{HeaderMap, HeaderValue, header};
use everstep_model::Timestamp;
use everstep_protocol::access::{CreateKey, MintToken};

use super::run_token::RunToken;
use super::signer::Signer;
use super::token::Token;
use super::{identify, key};

/// Parses and re-encodes a token. Returns `None` if the token is invalid.
pub(crate) fn token(text: &str) -> Option<String> {
    let signer = Signer::new(b"a secret of this test");
    let opened = RunToken::open(&signer, text, Timestamp::default()).ok()?;
    Some(opened.signed(&signer))
}

/// Returns the length of a bearer token, and whether it has the form of a key.
pub(crate) fn bearer(value: &[u8]) -> Option<(usize, bool)> {
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, HeaderValue::from_bytes(value).ok()?);
    let token = identify::bearer(&headers)?;
    let text = token.expose();
    Some((text.len(), key::parts(text).is_some()))
}

/// Returns whether a body is a valid request for a key, and for a token.
pub(crate) fn requests(body: &[u8]) -> (bool, bool) {
    let key = serde_json::from_slice::<CreateKey>(body);
    let token = serde_json::from_slice::<MintToken>(body);
    (
        key.is_ok_and(|request| key::check(&request).is_ok()),
        token.is_ok(),
    )
}
