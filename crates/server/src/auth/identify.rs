//! Identifies the caller of a request.

use axum::http::{Extensions, HeaderMap, header};
use everstep_engine::Engine;
use everstep_engine::streams::{StreamError, Streams};
use everstep_model::{ErrorCode, Timestamp};
use everstep_protocol::Secret;
use tokio::sync::OnceCell;

use super::caller::Caller;
use super::key;
use super::key_list::Keys;
use super::run_token::{self, InvalidToken, RunToken};
use super::signer::Signer;
use crate::failure::Failure;
use crate::options::Access;

const NO_KEY: &str = "this needs a key: `Authorization: Bearer evk_…`";
const INVALID_KEY: &str = "there is no such key, or it was revoked";

/// Verifies keys and run tokens.
pub(crate) struct Identities {
    streams: Streams,
    access: Access,
    pub(crate) keys: Keys,
    signer: OnceCell<Signer>,
}

impl Identities {
    pub(crate) fn new(engine: &Engine, access: Access) -> Self {
        Self {
            streams: engine.streams(),
            access,
            keys: Keys::of(engine),
            signer: OnceCell::new(),
        }
    }

    pub(crate) async fn signer(&self) -> Result<&Signer, StreamError> {
        let signer = || Signer::of_store(&self.streams);
        self.signer.get_or_try_init(signer).await
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
        match bearer(headers) {
            Some(text) if text.expose().starts_with(key::PREFIX) => self.by_key(&text).await,
            Some(text) if text.expose().starts_with(run_token::PREFIX) => {
                self.by_token(&text).await
            }
            Some(_) | None if self.access == Access::Open => Ok(Caller::unlimited()),
            Some(_) => Err(unauthenticated(INVALID_KEY)),
            None => Err(unauthenticated(NO_KEY)),
        }
    }

    async fn by_key(&self, text: &Secret) -> Result<Caller, Failure> {
        let found = self.keys.find(text).await?;
        let found = found.ok_or_else(|| unauthenticated(INVALID_KEY))?;
        Ok(found.caller())
    }

    async fn by_token(&self, text: &Secret) -> Result<Caller, Failure> {
        let signer = self.signer().await?;
        let opened = RunToken::open(signer, text.expose(), self.streams.now());
        let token = opened.map_err(|invalid| match invalid {
            InvalidToken::Forged => unauthenticated(INVALID_KEY),
            InvalidToken::Expired => token_expired(),
        })?;
        if let Some(id) = &token.key {
            // Revoking a key revokes the tokens that it created.
            let key = self.keys.with_id(id).await?;
            key.ok_or_else(|| unauthenticated(INVALID_KEY))?;
        }
        Ok(Caller::with_token(token))
    }
}

fn unauthenticated(detail: &str) -> Failure {
    Failure::unauthenticated(ErrorCode::Unauthenticated, detail)
}

pub(super) fn token_expired() -> Failure {
    let detail = "the run token has expired; request a new one";
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
