//! Routes for API keys (`/keys`, for administrators) and run tokens (`/tokens`, for backends that
//! hand tokens to browsers).

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::Engine;
use everstep_model::{ErrorCode, RunId, StreamName};
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, MintToken, MintedToken, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::auth::{Caller, Identified, Identities, KeyError, Refusal, Requirement, RunToken};
use crate::body::BodyLimits;
use crate::failure::Failure;
use crate::route::Route;
use crate::route_doc::RouteDoc;

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
    let admin = Requirement::Scope(Scope::Admin);
    vec![
        Route::post(
            "/keys",
            admin,
            create_key,
            RouteDoc::new("Create an API key")
                .accepts::<CreateKey>()
                .returns::<CreatedKey>(201, "The key. Its secret is returned only once."),
        ),
        Route::get(
            "/keys",
            admin,
            list_keys,
            RouteDoc::new("List the API keys")
                .returns::<KeyList>(200, "All keys, without their secrets."),
        ),
        Route::delete(
            "/keys/{id}",
            admin,
            revoke_key,
            RouteDoc::new("Revoke an API key").returns_empty(204, "The key is revoked."),
        ),
        // Further requirements depend on the body: a token never allows more than its creator has.
        Route::post(
            "/tokens",
            Requirement::Scope(Scope::Read),
            mint_token,
            RouteDoc::new("Create a run token for a browser")
                .accepts::<MintToken>()
                .returns::<MintedToken>(201, "The token."),
        ),
    ]
}

async fn create_key(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
    body: Body,
) -> Result<Response, Failure> {
    let request: CreateKey = parse(&state.body_limits.read(body).await?)?;
    let created = state.identities.keys.create(request, caller.name()).await?;
    let view = &created.view;
    tracing::info!(
        key = view.id,
        name = view.name,
        by = caller.name(),
        "API key created"
    );
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
        let failure = Failure::new(StatusCode::NOT_FOUND, "there is no key with this id");
        return Err(failure.coded(ErrorCode::UnknownKey));
    }
    tracing::info!(key = id, by = caller.name(), "API key revoked");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn mint_token(
    State(state): State<KeyRoutes>,
    Extension(identified): Extension<Identified>,
    body: Body,
) -> Result<Response, Failure> {
    let request: MintToken = parse(&state.body_limits.read(body).await?)?;
    let run = RunId::new(&request.run);
    let run = run.map_err(|error| invalid(error.to_string()).coded(ErrorCode::InvalidRunId))?;
    check_rights(&request, &identified.caller)?;
    let lifetime = lifetime(&request, state.token_lifetime_max)?;
    let row = state.engine.row(&run).await?;
    let token = RunToken {
        run,
        generation: row.generation,
        view: request.view,
        rpcs: request.rpcs,
        events: request.events,
        expires_at: state.identities.now().after(lifetime),
        by: identified.caller.name().map(str::to_owned),
        key: identified.key,
    };
    let signer = state.identities.signer().await?;
    let minted = MintedToken {
        token: token.signed(signer),
        generation: token.generation.0,
        stream: format!(
            "/v1/stream/{}",
            StreamName::of_run(&token.run, token.generation)
        ),
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
        let why = "a token that may send or answer needs a key with the scope `send`";
        return Err(Refusal::forbidden(why).into());
    }
    Ok(())
}

fn lifetime(request: &MintToken, max: Duration) -> Result<Duration, Failure> {
    let lifetime = match &request.lifetime {
        Some(text) => {
            everstep_model::parse_duration(text).map_err(|error| invalid(error.to_string()))?
        }
        None => max,
    };
    if lifetime > max || lifetime.is_zero() {
        let detail = format!("a token lives at most {} s", max.as_secs());
        return Err(invalid(detail));
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
    Failure::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::InvalidOptions)
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body is invalid: {error}");
        Failure::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::Undecodable)
    })
}

/// A response that contains secrets and must not be cached.
fn respond(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_string(body).unwrap_or_default();
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
