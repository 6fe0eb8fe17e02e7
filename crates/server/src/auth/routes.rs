//! `POST /keys`, `GET /keys`, `DELETE /keys/{id}` for admins, and `POST /tokens` for who hands tokens to browsers.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::EngineError;
use everstep_model::{ErrorCode, RunId, StreamName};
use everstep_protocol::access::{CreateKey, CreatedKey, KeyList, MintToken, MintedToken, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::caller::Caller;
use super::identify::Identified;
use super::key_list::KeyError;
use super::needs::Needs;
use super::refusal::Refusal;
use super::run_token::RunToken;
use crate::failure::Failure;
use crate::openapi::About;
use crate::router::Shared;
use crate::routes::Route;
use crate::streams::route::whole_body;

/// How many names a token may carry; it travels with every request.
const NAMES_MAX: usize = 100;

pub(crate) fn routes() -> Vec<Route> {
    let admin = Needs::Scope(Scope::Admin);
    vec![
        Route::post("/keys", admin, create_key).about(
            About::new("Makes a key")
                .takes::<CreateKey>()
                .gives::<CreatedKey>(201, "The key, shown this once."),
        ),
        Route::get("/keys", admin, list_keys)
            .about(About::new("Lists the keys").gives::<KeyList>(200, "Every key, no secret.")),
        Route::delete("/keys/{id}", admin, revoke_key)
            .about(About::new("Revokes a key").gives_nothing(204, "It is good no more.")),
        // What a token may allow depends on what is asked for; it is never more than its maker may.
        Route::post("/tokens", Needs::Scope(Scope::Read), mint_token).about(
            About::new("Makes a run token, for a browser")
                .takes::<MintToken>()
                .gives::<MintedToken>(201, "The token."),
        ),
    ]
}

async fn create_key(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    body: Body,
) -> Result<Response, Failure> {
    let asked: CreateKey = read(&whole_body(&shared, body).await?)?;
    let created = shared.identities.keys.create(asked, caller.name()).await?;
    let view = &created.view;
    tracing::info!(
        key = view.id,
        name = view.name,
        by = caller.name(),
        "a key was made"
    );
    Ok(answer(StatusCode::CREATED, &created))
}

async fn list_keys(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    let keys = shared.identities.keys.list().await?;
    Ok(answer(StatusCode::OK, &KeyList { keys }))
}

async fn revoke_key(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    if !shared.identities.keys.revoke(&id).await? {
        let failure = Failure::new(StatusCode::NOT_FOUND, "there is no key of that id");
        return Err(failure.coded(ErrorCode::UnknownKey));
    }
    tracing::info!(key = id, by = caller.name(), "a key was revoked");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn mint_token(
    State(shared): State<Arc<Shared>>,
    Extension(identified): Extension<Identified>,
    body: Body,
) -> Result<Response, Failure> {
    let asked: MintToken = read(&whole_body(&shared, body).await?)?;
    let run = RunId::new(&asked.run);
    let run = run.map_err(|error| invalid(error.to_string()).coded(ErrorCode::InvalidRunId))?;
    if asked.rpcs.len() + asked.events.len() > NAMES_MAX {
        return Err(invalid("a token names at most 100 rpcs and events"));
    }
    let acts = !asked.rpcs.is_empty() || !asked.events.is_empty();
    if acts && !identified.caller.has(Scope::Send) {
        let why = "a token that may send or answer needs a key with the scope `send`";
        return Err(Refusal::forbidden(why).into());
    }
    let longest = shared.options.token_lifetime_max;
    let lifetime = match &asked.lifetime {
        Some(text) => {
            everstep_model::parse_duration(text).map_err(|error| invalid(error.to_string()))?
        }
        None => longest,
    };
    if lifetime > longest || lifetime.is_zero() {
        return Err(invalid(format!(
            "a token lives at most {} s",
            longest.as_secs()
        )));
    }
    let row = shared.engine.row(&run).await.map_err(unknown_run)?;
    let token = RunToken {
        run,
        generation: row.generation,
        view: asked.view,
        rpcs: asked.rpcs,
        events: asked.events,
        expires_at: shared.streams.now().after(lifetime),
        key: identified.key,
    };
    let signer = shared.identities.signer().await?;
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
    Ok(answer(StatusCode::CREATED, &minted))
}

fn unknown_run(error: EngineError) -> Failure {
    match error {
        EngineError::UnknownRun(_) => {
            Failure::new(StatusCode::NOT_FOUND, error.to_string()).coded(error.code())
        }
        _ => everstep_engine::streams::StreamError::from(error).into(),
    }
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

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body is not what it should be: {error}");
        Failure::new(StatusCode::BAD_REQUEST, detail).coded(ErrorCode::Undecodable)
    })
}

/// An answer that is nobody else's business.
fn answer(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_string(body).unwrap_or_default();
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
