//! From a request to its verb, and from its address to the path of a stream.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use everstep_engine::streams::{InvalidPath, StreamPath};
use everstep_model::ErrorCode;
use percent_encoding::percent_decode_str;

use super::{delete, get, head, post, put};
use crate::auth::{Caller, Needs};
use crate::failure::Failure;
use crate::journals::{self, is_journal};
use crate::openapi::About;
use crate::router::Shared;
use crate::routes::Route;
use crate::serve::Secured;
use crate::subscriptions;
use crate::workflows::parameters::{Kind, Parameter};

/// What the routes of streams begin with, below wherever the router is mounted.
pub(crate) const PREFIX: &str = "/v1/stream/";

/// What the requests about subscriptions begin with.
const RESERVED: &str = "__ds/";

/// Every method has one address; what it needs depends on the path, which may be a user's, a journal's or a subscription's.
pub(crate) fn routes() -> Vec<Route> {
    const PATH: &str = "/v1/stream/{*path}";
    vec![
        Route::get(PATH, Needs::Stream, dispatch).about(
            About::new("Reads a stream or a journal from an offset on, and may wait for more")
                .parameters(PARAMETERS)
                .gives_as(200, "*/*", "What there is.")
                .gives_nothing(204, "Nothing came while it waited.")
                .gives_nothing(304, "The caller has it already."),
        ),
        Route::head(PATH, Needs::Stream, dispatch)
            .about(About::new("What a stream is").gives_nothing(200, "Its headers say it.")),
        Route::put(PATH, Needs::Stream, dispatch).about(
            About::new("Creates a stream")
                .takes_as("*/*")
                .gives_nothing(201, "It was created.")
                .gives_nothing(200, "It was there already, with the same settings."),
        ),
        Route::post(PATH, Needs::Stream, dispatch).about(
            About::new(
                "Appends to a stream, closes it, or both; to a journal, an event or an answer",
            )
            .takes_as("*/*")
            .gives_nothing(204, "It is appended.")
            .gives_nothing(200, "It is appended, as a producer's."),
        ),
        Route::delete(PATH, Needs::Stream, dispatch)
            .about(About::new("Deletes a stream").gives_nothing(204, "It is gone.")),
    ]
}

/// What a read may say; other parameters are ignored, as the protocol wants it.
const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "offset",
        about: "Where to begin: an offset that the server gave, `-1` for the start, `now` for the end.",
        kind: Kind::Text,
    },
    Parameter {
        name: "live",
        about: "`long-poll` or `sse`, to wait for more.",
        kind: Kind::Text,
    },
    Parameter {
        name: "cursor",
        about: "The `Stream-Cursor` of the last answer.",
        kind: Kind::Text,
    },
    Parameter {
        name: "view",
        about: "Of a journal: `full`, `state` or `client`.",
        kind: Kind::Text,
    },
];

/// A request about a stream.
pub(crate) struct Asked {
    pub(crate) path: StreamPath,
    pub(crate) address: Address,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: axum::body::Body,
}

/// How the client calls the server and the stream.
pub(crate) struct Address {
    /// Scheme and host.
    pub(crate) site: String,
    /// The address of all streams, with what the router is mounted under.
    pub(crate) base: String,
    /// The stream behind it, as it was written.
    pub(crate) raw: String,
}

impl Address {
    fn of(shared: &Shared, original: &Uri, request: &Parts) -> Option<Self> {
        let raw = request.uri.path().strip_prefix(PREFIX)?.to_owned();
        let base = original.path().strip_suffix(&raw)?.to_owned();
        let host = request
            .headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let host = host.or_else(|| original.authority().map(|named| named.as_str()));
        let site = match &shared.options.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => {
                let is_secured = request.extensions.get::<Secured>().is_some();
                let scheme = if is_secured { "https" } else { "http" };
                format!("{scheme}://{}", host.unwrap_or("localhost"))
            }
        };
        Some(Self { site, base, raw })
    }

    /// The whole address of the stream.
    pub(crate) fn url(&self) -> String {
        format!("{}{}{}", self.site, self.base, self.raw)
    }

    /// The stream that an address on this server, such as `/v1/stream/a`, is about.
    pub(crate) fn stream_at(&self, address: &str) -> Result<StreamPath, Failure> {
        let local = address.strip_prefix(&self.site).unwrap_or(address);
        let raw = local.strip_prefix(&self.base).ok_or_else(|| {
            Failure::bad_request(format!("an address of a stream begins with {}", self.base))
        })?;
        path(raw)
    }
}

fn decoded(raw: &str) -> Result<Cow<'_, str>, Failure> {
    let text = percent_decode_str(raw).decode_utf8();
    text.map_err(|_| Failure::bad_request("the path is not UTF-8"))
}

fn path(raw: &str) -> Result<StreamPath, Failure> {
    StreamPath::new(&decoded(raw)?).map_err(|error| match error {
        InvalidPath::Reserved(_) => {
            Failure::new(StatusCode::FORBIDDEN, error.to_string()).coded(ErrorCode::ReservedStream)
        }
        InvalidPath::Rule(_) => Failure::bad_request(error.to_string()),
    })
}

pub(crate) async fn dispatch(
    State(shared): State<Arc<Shared>>,
    OriginalUri(original): OriginalUri,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some(address) = Address::of(&shared, &original, &parts) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if let Some(rest) = address.raw.strip_prefix(RESERVED) {
        let asked = subscriptions::Asked {
            method: parts.method,
            rest: rest.to_owned(),
            base_url: format!("{}{}", address.site, address.base),
            headers: parts.headers,
            body: match whole_body(&shared, body).await {
                Ok(body) => body,
                Err(failure) => return failure.into_response(),
            },
        };
        return subscriptions::dispatch(&shared.subscriptions, asked).await;
    }
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let answer = match journal(&address.raw) {
        Ok(Some(path)) => {
            let caller = parts.extensions.get::<Caller>().cloned();
            let asked = journals::Asked {
                path,
                // The gate lets nobody pass without one.
                caller: caller.unwrap_or_else(Caller::nobody),
                query,
                headers: parts.headers,
                body,
            };
            journals::dispatch(shared, parts.method, asked).await
        }
        Ok(None) => match path(&address.raw) {
            Ok(path) => {
                let asked = Asked {
                    path,
                    address,
                    query,
                    headers: parts.headers,
                    body,
                };
                verb(shared, parts.method, asked).await
            }
            Err(failure) => Err(failure),
        },
        Err(failure) => Err(failure),
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

/// The path of the journal that an address is about, if it is one's.
fn journal(raw: &str) -> Result<Option<String>, Failure> {
    let path = decoded(raw)?;
    Ok(is_journal(&path).then(|| path.into_owned()))
}

async fn verb(shared: Arc<Shared>, method: Method, asked: Asked) -> Result<Response, Failure> {
    match method {
        Method::PUT => put::put(&shared, asked).await,
        Method::POST => post::post(&shared, asked).await,
        Method::GET => get::get(shared, asked).await,
        Method::HEAD => {
            let Asked { path, .. } = asked;
            head::head(&shared, &path).await
        }
        Method::DELETE => {
            let Asked { path, .. } = asked;
            delete::delete(&shared, &path).await
        }
        _ => Err(Failure::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "a stream knows GET, PUT, POST, HEAD, DELETE and OPTIONS",
        )),
    }
}

/// The whole body of a request, within bounds.
pub(crate) async fn whole_body(shared: &Shared, body: axum::body::Body) -> Result<Bytes, Failure> {
    let limit = shared.options.body_bytes_max;
    let whole = axum::body::to_bytes(body, limit);
    match tokio::time::timeout(shared.options.body_timeout, whole).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body could not be read, or is larger than {limit} bytes"),
        )),
        Err(_) => Err(Failure::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long to arrive",
        )),
    }
}
