//! From a request to whoever sent it.

use axum::http::{Extensions, HeaderMap, header};
use everstep_engine::Engine;
use everstep_engine::streams::{StreamError, Streams};
use everstep_protocol::Secret;
use tokio::sync::OnceCell;

use super::caller::Caller;
use super::key;
use super::key_list::Keys;
use super::refusal::Refusal;
use super::run_token::{self, RunToken, Spoiled};
use super::signer::Signer;
use crate::options::Access;

const NO_KEY: &str = "this needs a key: `Authorization: Bearer evk_…`";
const WRONG: &str = "there is no such key, or it was revoked";

/// What tells callers apart.
pub(crate) struct Identities {
    streams: Streams,
    access: Access,
    pub(crate) keys: Keys,
    signer: OnceCell<Signer>,
}

/// A caller, and the key behind them if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Identified {
    pub(crate) caller: Caller,
    pub(crate) key: Option<String>,
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

    /// What signs whatever this server hands out.
    pub(crate) async fn signer(&self) -> Result<&Signer, StreamError> {
        let made = self
            .signer
            .get_or_try_init(|| Signer::of_store(&self.streams));
        made.await
    }

    /// Who sent a request. Whoever shows a key or a token is who it says, and no more, even where everybody may come in.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Identified, Refusal> {
        if let Some(caller) = extensions.get::<Caller>() {
            let caller = caller.clone();
            return Ok(Identified { caller, key: None });
        }
        let shown = bearer(headers);
        match shown {
            Some(text) if text.expose().starts_with(key::PREFIX) => self.by_key(&text).await,
            Some(text) if text.expose().starts_with(run_token::PREFIX) => {
                self.by_token(&text).await
            }
            Some(_) | None if self.access == Access::Open => Ok(Identified {
                caller: Caller::unlimited(),
                key: None,
            }),
            Some(_) => Err(Refusal::Unknown(WRONG)),
            None => Err(Refusal::Unknown(NO_KEY)),
        }
    }

    async fn by_key(&self, text: &Secret) -> Result<Identified, Refusal> {
        let found = self.keys.find(text).await?;
        let found = found.ok_or(Refusal::Unknown(WRONG))?;
        Ok(Identified {
            caller: found.caller(),
            key: Some(found.view.id),
        })
    }

    async fn by_token(&self, text: &Secret) -> Result<Identified, Refusal> {
        let signer = self.signer().await?;
        let opened = RunToken::open(signer, text.expose(), self.streams.now());
        let token = opened.map_err(|spoiled| match spoiled {
            Spoiled::NotOurs => Refusal::Unknown(WRONG),
            Spoiled::Expired => Refusal::Expired,
        })?;
        if let Some(id) = &token.key {
            // A token ends with the key that asked for it.
            let key = self.keys.with_id(id).await?;
            key.ok_or(Refusal::Unknown(WRONG))?;
        }
        let name = token.by.clone();
        Ok(Identified {
            caller: Caller::with_token(name.as_deref(), token.grant()),
            key: None,
        })
    }
}

/// What a request shows. More than one header, or bytes that are no text, are nothing that was given out here.
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
