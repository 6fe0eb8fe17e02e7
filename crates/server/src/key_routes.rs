//! Routes for API keys (`/keys`, for administrators) and run tokens (`/tokens`, for backends that
//! hand tokens to browsers).

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use everstep_engine::Engine;
use everstep_model::{ErrorCode, RunId, StreamName, parse_duration};
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, MintToken, MintedToken, Scope};
use serde::de::DeserializeOwned;

use crate::auth::{Caller, Identities, KeyError, Requirement, RunToken};
use crate::body::BodyLimits;
use crate::failure::Failure;
use crate::json::{self, respond};
use crate::route::Route;
use crate::stream_protocol::PREFIX;

/// The most rpcs and events that a token may name. The token is part of every request.
const NAMES_MAX: usize = 100;

#[derive(Clone)]
pub(crate) struct KeyRoutes {
    pub(crate) engine: Engine,
    pub(crate) identities: Arc<Identities>,
    pub(crate) body_limits: BodyLimits,
    pub(crate) token_lifetime_max: Duration,
}

pub(crate) fn routes() -> Vec<Route<KeyRoutes>> {
    const ADMIN: Requirement = Requirement::Scopes(&[Scope::Admin]);
    // Further requirements depend on the body: a token never allows more than its creator has.
    const MINT: Requirement = Requirement::Scopes(&[Scope::Read]);
    vec![
        Route::post("/keys", ADMIN, create_key)
            .summary("Create an API key")
            .accepts::<CreateKey>()
            .returns::<CreatedKey>(201, "The key. Its secret is returned only once."),
        Route::get("/keys", ADMIN, list_keys)
            .summary("List the API keys")
            .returns::<KeyList>(200, "All keys, without their secrets."),
        Route::delete("/keys/{id}", ADMIN, revoke_key)
            .summary("Revoke an API key")
            .returns_empty(204, "The key is revoked."),
        Route::post("/tokens", MINT, mint_token)
            .summary("Create a run token for a browser")
            .accepts::<MintToken>()
            .returns::<MintedToken>(201, "The token."),
    ]
}

async fn create_key(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let request: CreateKey = parse(&headers, &state.body_limits.read(body).await?)?;
    let created = state.identities.keys.create(request, caller.name()).await?;
    let (key, name) = (&created.view.id, &created.view.name);
    tracing::info!(key, name, by = caller.name(), "API key created");
    Ok(respond(StatusCode::CREATED, &created))
}

async fn list_keys(State(state): State<KeyRoutes>) -> Result<Response, Failure> {
    let keys = state.identities.keys.list().await?;
    Ok(respond(StatusCode::OK, &KeyList { keys }))
}

async fn revoke_key(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    if !state.identities.keys.revoke(&id).await? {
        let detail = "there is no key with this id";
        return Err(Failure::new(
            StatusCode::NOT_FOUND,
            ErrorCode::UnknownKey,
            detail,
        ));
    }
    tracing::info!(key = id, by = caller.name(), "API key revoked");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn mint_token(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let request: MintToken = parse(&headers, &state.body_limits.read(body).await?)?;
    let run = RunId::new(&request.run)?;
    check_rights(&request, &caller)?;
    let lifetime = lifetime(&request, state.token_lifetime_max)?;
    let row = state.engine.row(&run).await?;
    let token = RunToken {
        run,
        generation: row.generation,
        view: request.view,
        rpcs: request.rpcs,
        events: request.events,
        expires_at: state.identities.now().after(lifetime),
        by: caller.name().map(str::to_owned),
        key: caller.key().map(str::to_owned),
    };
    let signer = state.identities.signer().await?;
    let stream = StreamName::of_run(&token.run, token.generation);
    let minted = MintedToken {
        token: token.signed(signer),
        generation: token.generation.0,
        stream: format!("{PREFIX}{stream}"),
        run: token.run.to_string(),
        expires_at: token.expires_at,
    };
    Ok(respond(StatusCode::CREATED, &minted))
}

fn check_rights(request: &MintToken, caller: &Caller) -> Result<(), Failure> {
    if request.rpcs.len() + request.events.len() > NAMES_MAX {
        return Err(invalid("a token names at most 100 rpcs and events"));
    }
    let writes = !request.rpcs.is_empty() || !request.events.is_empty();
    if writes && !caller.has(Scope::Send) {
        let detail = "a token that may send or answer needs a key with the scope `send`";
        return Err(Failure::forbidden(detail));
    }
    Ok(())
}

fn lifetime(request: &MintToken, max: Duration) -> Result<Duration, Failure> {
    let lifetime = match &request.lifetime {
        Some(text) => parse_duration(text).map_err(|error| invalid(error.to_string()))?,
        None => max,
    };
    if lifetime > max || lifetime.is_zero() {
        let max = max.as_secs();
        return Err(invalid(format!("a token is valid for at most {max} s")));
    }
    Ok(lifetime)
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Invalid(_) | KeyError::TooMany => invalid(error.to_string()),
            KeyError::Failed(error) => error.into(),
        }
    }
}

fn invalid(detail: impl Into<String>) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidOptions, detail)
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Failure> {
    json::check(headers, body, json::DEPTH_MAX)?;
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body is invalid: {error}");
        Failure::new(StatusCode::BAD_REQUEST, ErrorCode::Undecodable, detail)
    })
}
