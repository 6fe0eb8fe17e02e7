//! Routes for API keys (`/keys`, for administrators) and tokens (`/tokens`, for backends that hand
//! tokens to browsers).

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use everstep_engine::Engine;
use everstep_engine::streams::{StreamError, StreamPath};
use everstep_model::{ErrorCode, RunId, StreamName, limits, parse_duration};
use everstep_protocol::access::{
    CreateKey, CreatedKey, KeyList, MintStreamToken, MintToken, MintedStreamToken, MintedToken,
    Scope, StreamRight,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;

use crate::auth::{
    Caller, Identities, KeyError, Requirement, RunToken, StreamToken, TokenStreams, check_reach,
    unreached,
};
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
        Route::post("/keys/rotate-secret", ADMIN, rotate_secret)
            .summary("Replace the secret that signs tokens, which ends all tokens")
            .returns_empty(204, "The secret is replaced."),
        Route::post("/tokens", MINT, mint_token)
            .summary("Create a token that gives a browser access to a run")
            .accepts::<MintToken>()
            .returns::<MintedToken>(201, "The token."),
        Route::post("/tokens/streams", MINT, mint_stream_token)
            .summary("Create a token that gives a browser access to streams")
            .accepts::<MintStreamToken>()
            .returns::<MintedStreamToken>(201, "The token."),
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

async fn rotate_secret(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Failure> {
    state.identities.keys.rotate_secret().await?;
    tracing::info!(
        by = caller.name(),
        "signing secret replaced, all tokens end"
    );
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
    if request.rpcs.len() + request.events.len() > NAMES_MAX {
        return Err(invalid("a token names at most 100 rpcs and events"));
    }
    check_send(
        &caller,
        !request.rpcs.is_empty() || !request.events.is_empty(),
    )?;
    check_reach(&state.engine, &caller, run.as_str()).await?;
    check_subject(request.subject.as_deref())?;
    let lifetime = state.lifetime(request.lifetime.as_deref())?;
    let generation = state.engine.row(&run).await?.generation;
    let journal = state.engine.streams().journal(&run, generation).await?;
    let token = RunToken {
        run,
        generation,
        stream: journal.info.number,
        view: request.view,
        rpcs: request.rpcs,
        events: request.events,
        expires_at: state.identities.now().after(lifetime),
        by: request.subject.or(caller.name().map(str::to_owned)),
        key: caller.key().map(str::to_owned),
    };
    let stream = StreamName::of_run(&token.run, token.generation);
    let minted = MintedToken {
        token: state.identities.keys.sign(&token).await?,
        generation: token.generation.0,
        stream: format!("{PREFIX}{stream}"),
        run: token.run.to_string(),
        expires_at: token.expires_at,
    };
    Ok(respond(StatusCode::CREATED, &minted))
}

async fn mint_stream_token(
    State(state): State<KeyRoutes>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let request: MintStreamToken = parse(&headers, &state.body_limits.read(body).await?)?;
    let streams = token_streams(&request)?;
    let (TokenStreams::One(path) | TokenStreams::BeginningWith(path)) = &streams;
    check_send(&caller, request.allows.contains(&StreamRight::Append))?;
    if !caller.limits().reaches_stream(path) {
        return Err(unreached("stream"));
    }
    let lifetime = state.lifetime(request.lifetime.as_deref())?;
    let stream = format!("{PREFIX}{}", utf8_percent_encode(path, IN_PATHS));
    let token = StreamToken {
        streams,
        allows: match request.allows.is_empty() {
            true => vec![StreamRight::Read],
            false => request.allows,
        },
        expires_at: state.identities.now().after(lifetime),
        key: caller.key().map(str::to_owned),
    };
    let minted = MintedStreamToken {
        token: state.identities.keys.sign(&token).await?,
        stream,
        expires_at: token.expires_at,
    };
    Ok(respond(StatusCode::CREATED, &minted))
}

/// The characters of a path that are encoded in URLs.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn token_streams(request: &MintStreamToken) -> Result<TokenStreams, Failure> {
    let of_users = |path: &str| StreamPath::new(path).map_err(StreamError::from);
    match (&request.stream, &request.prefix) {
        (Some(stream), None) => {
            of_users(stream)?;
            Ok(TokenStreams::One(stream.clone()))
        }
        (None, Some(prefix)) if !prefix.is_empty() => {
            // A path does not end with a slash, but its beginning may.
            of_users(&format!("{prefix}x"))?;
            Ok(TokenStreams::BeginningWith(prefix.clone()))
        }
        _ => Err(invalid(
            "a token for streams names a `stream` or a `prefix`, one of them",
        )),
    }
}

/// Checks that the caller may give the right to send events, answers or messages.
fn check_send(caller: &Caller, is_given: bool) -> Result<(), Failure> {
    if is_given && !caller.has(Scope::Send) {
        let detail = "a token that may send, answer or append needs a key with the scope `send`";
        return Err(Failure::forbidden(detail));
    }
    Ok(())
}

fn check_subject(subject: Option<&str>) -> Result<(), Failure> {
    let fits = |subject: &str| {
        !subject.trim().is_empty()
            && subject.chars().count() <= limits::NAME_CHARS_MAX
            && !subject.chars().any(char::is_control)
    };
    match subject.is_none_or(fits) {
        true => Ok(()),
        false => Err(invalid(format!(
            "a subject has 1 to {} characters, in one line",
            limits::NAME_CHARS_MAX
        ))),
    }
}

impl KeyRoutes {
    /// Returns the lifetime of a token.
    fn lifetime(&self, requested: Option<&str>) -> Result<Duration, Failure> {
        let max = self.token_lifetime_max;
        let lifetime = match requested {
            Some(text) => parse_duration(text).map_err(|error| invalid(error.to_string()))?,
            None => max,
        };
        if lifetime > max || lifetime.is_zero() {
            let max = max.as_secs();
            return Err(invalid(format!("a token is valid for at most {max} s")));
        }
        Ok(lifetime)
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
    Failure::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidOptions, detail)
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Failure> {
    json::check(headers, body, json::DEPTH_MAX)?;
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body is invalid: {error}");
        Failure::new(StatusCode::BAD_REQUEST, ErrorCode::Undecodable, detail)
    })
}
