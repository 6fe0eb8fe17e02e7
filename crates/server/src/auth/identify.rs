//! Identifies the caller of a request.

use axum::http::{Extensions, HeaderMap, header};
use everstep_engine::Engine;
use everstep_engine::streams::Streams;
use everstep_model::{ErrorCode, Timestamp};
use everstep_protocol::Secret;

use super::caller::Caller;
use super::key;
use super::key_list::Keys;
use super::run_token::RunToken;
use super::stream_token::StreamToken;
use super::token::{InvalidToken, Token};
use crate::failure::Failure;
use crate::options::Access;

const NO_KEY: &str = "this needs a key: `Authorization: Bearer evk_…`";
const INVALID_KEY: &str = "there is no such key or token, or it was revoked";

/// Verifies keys and tokens.
pub(crate) struct Identities {
    streams: Streams,
    access: Access,
    pub(crate) keys: Keys,
}

impl Identities {
    pub(crate) fn new(engine: &Engine, access: Access) -> Self {
        Self {
            streams: engine.streams(),
            access,
            keys: Keys::of(engine),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.streams.now()
    }

    /// Identifies the caller. A key or token determines the rights even if the server is open.
    pub(super) async fn identify(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Caller, Failure> {
        if let Some(caller) = extensions.get::<Caller>() {
            return Ok(caller.clone());
        }
        let bearer = bearer(headers);
        let identified = match &bearer {
            Some(text) => self.by_bearer(text).await?,
            None => None,
        };
        match (identified, bearer) {
            (Some(caller), _) => Ok(caller),
            (None, _) if self.access == Access::Open => Ok(Caller::unlimited()),
            (None, Some(_)) => Err(unauthenticated(INVALID_KEY)),
            (None, None) => Err(unauthenticated(NO_KEY)),
        }
    }

    /// Identifies the caller by a key or a token. `None` if the text has the form of neither.
    pub(super) async fn by_bearer(&self, text: &Secret) -> Result<Option<Caller>, Failure> {
        let starts_with = |prefix| text.expose().starts_with(prefix);
        Ok(Some(if starts_with(key::PREFIX) {
            self.by_key(text).await?
        } else if starts_with(RunToken::PREFIX) {
            let token: RunToken = self.open(text, |token: &RunToken| &token.key).await?;
            Caller::with_run_token(token)
        } else if starts_with(StreamToken::PREFIX) {
            let token = self.open(text, |token: &StreamToken| &token.key).await?;
            Caller::with_stream_token(token)
        } else {
            return Ok(None);
        }))
    }

    async fn by_key(&self, text: &Secret) -> Result<Caller, Failure> {
        let found = self.keys.find(text).await?;
        let found = found.ok_or_else(|| unauthenticated(INVALID_KEY))?;
        Ok(found.caller())
    }

    /// Opens a token. `key` returns the key that created it, whose revocation revokes the token.
    async fn open<T: Token>(
        &self,
        text: &Secret,
        key: impl Fn(&T) -> &Option<String>,
    ) -> Result<T, Failure> {
        let opened = self.keys.open(text.expose()).await?;
        let token: T = opened.map_err(|invalid| match invalid {
            InvalidToken::Forged => unauthenticated(INVALID_KEY),
            InvalidToken::Expired => token_expired(),
        })?;
        if let Some(id) = key(&token) {
            let key = self.keys.with_id(id).await?;
            key.ok_or_else(|| unauthenticated(INVALID_KEY))?;
        }
        Ok(token)
    }
}

fn unauthenticated(detail: &str) -> Failure {
    Failure::unauthenticated(ErrorCode::Unauthenticated, detail)
}

fn token_expired() -> Failure {
    let detail = "the token has expired; request a new one";
    Failure::unauthenticated(ErrorCode::TokenExpired, detail)
}

/// Returns the bearer token of a request. It is empty, and thereby invalid, if there is more than
/// one `Authorization` header or if the header is not text.
pub(super) fn bearer(headers: &HeaderMap) -> Option<Secret> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (first, second) = (all.next()?, all.next());
    let text = first.to_str().ok().filter(|_| second.is_none());
    let text = text.and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    Some(text.unwrap_or_default().into())
}
