//! Routes below `/v1/stream/`: dispatches a request to a user's stream, a journal or a subscription.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::auth::{Caller, Requirement};
use crate::failure::Failure;
use crate::journals::{JournalRequest, Journals, is_journal};
use crate::parameters::{Kind, Parameter};
use crate::route::Route;
use crate::route_doc::RouteDoc;
use crate::stream_protocol::RESERVED;
use crate::streams::{self, Address, StreamRequest, StreamServer, decode};
use crate::subscriptions::{self, SubscriptionRequest};

#[derive(Clone)]
pub(crate) struct StreamRoutes {
    pub(crate) server: Arc<StreamServer>,
    pub(crate) journals: Arc<Journals>,
}

/// One route per method. What it requires depends on the path: a user's stream, a journal or a
/// subscription.
pub(crate) fn routes() -> Vec<Route<StreamRoutes>> {
    const PATH: &str = "/v1/stream/{*path}";
    const REQUIRES: Requirement = Requirement::Stream;
    vec![
        Route::get(
            PATH,
            REQUIRES,
            dispatch,
            RouteDoc::new(
                "Read a stream or a journal from an offset, and optionally wait for more",
            )
            .parameters(PARAMETERS)
            .returns_as(200, "*/*", "The messages from the offset on.")
            .returns_empty(204, "No messages arrived before the long-poll timed out.")
            .returns_empty(304, "Not modified."),
        ),
        Route::head(
            PATH,
            REQUIRES,
            dispatch,
            RouteDoc::new("Read the metadata of a stream")
                .returns_empty(200, "The metadata, in the headers."),
        ),
        Route::put(
            PATH,
            REQUIRES,
            dispatch,
            RouteDoc::new("Create a stream")
                .accepts_as("*/*")
                .returns_empty(201, "The stream was created.")
                .returns_empty(200, "The stream exists with the same settings."),
        ),
        Route::post(
            PATH,
            REQUIRES,
            dispatch,
            RouteDoc::new(
                "Append to a stream, close it, or both; append an event or an answer to a journal",
            )
            .accepts_as("*/*")
            .returns_empty(204, "Appended.")
            .returns_empty(200, "Appended by an idempotent producer."),
        ),
        Route::delete(
            PATH,
            REQUIRES,
            dispatch,
            RouteDoc::new("Delete a stream").returns_empty(204, "The stream is deleted."),
        ),
    ]
}

/// The parameters of a read. Others are ignored, as the protocol requires.
const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "offset",
        about: "Where to begin: an offset from an earlier response, `-1` for the start, or `now` for the end.",
        kind: Kind::Text,
    },
    Parameter {
        name: "live",
        about: "`long-poll` or `sse`, to wait for more messages.",
        kind: Kind::Text,
    },
    Parameter {
        name: "cursor",
        about: "The `Stream-Cursor` of the previous response.",
        kind: Kind::Text,
    },
    Parameter {
        name: "view",
        about: "The view of a journal: `full`, `state` or `client`.",
        kind: Kind::Text,
    },
];

async fn dispatch(
    State(routes): State<StreamRoutes>,
    OriginalUri(original): OriginalUri,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let public_url = routes.server.options.public_url.as_deref();
    let Some(address) = Address::new(public_url, &original, &parts) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let response = routes.route(address, parts, body).await;
    response.unwrap_or_else(IntoResponse::into_response)
}

impl StreamRoutes {
    async fn route(self, address: Address, parts: Parts, body: Body) -> Result<Response, Failure> {
        if let Some(rest) = address.raw.strip_prefix(RESERVED) {
            let request = SubscriptionRequest {
                method: parts.method,
                rest: rest.to_owned(),
                base_url: format!("{}{}", address.site, address.base),
                headers: parts.headers,
                body: self.server.body_limits.read(body).await?,
            };
            return Ok(subscriptions::dispatch(&self.server.subscriptions, request).await);
        }
        let query = parts.uri.query().unwrap_or_default().to_owned();
        if let Some(path) = journal_path(&address.raw)? {
            let caller = parts.extensions.get::<Caller>().cloned();
            let request = JournalRequest {
                path,
                // The gate always inserts a caller; without one, nothing is allowed.
                caller: caller.unwrap_or_else(Caller::without_rights),
                query,
                headers: parts.headers,
                body,
            };
            return self.journals.dispatch(parts.method, request).await;
        }
        let request = StreamRequest {
            path: address.stream()?,
            address,
            query,
            headers: parts.headers,
            body,
        };
        self.call(parts.method, request).await
    }

    async fn call(self, method: Method, request: StreamRequest) -> Result<Response, Failure> {
        let server = &self.server;
        match method {
            Method::PUT => streams::put(server, request).await,
            Method::POST => streams::post(server, request).await,
            Method::GET => streams::get(self.server, request).await,
            Method::HEAD => streams::head(server, &request.path).await,
            Method::DELETE => streams::delete(server, &request.path).await,
            _ => Err(Failure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "a stream supports GET, PUT, POST, HEAD, DELETE and OPTIONS",
            )),
        }
    }
}

/// The decoded path of a journal. `None` if the address is not that of a journal.
fn journal_path(raw: &str) -> Result<Option<String>, Failure> {
    let path = decode(raw)?;
    Ok(is_journal(&path).then(|| path.into_owned()))
}
