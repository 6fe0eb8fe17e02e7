//! Routes below `/v1/stream/`: dispatches a request to a user's stream, a journal or a
//! subscription.

use std::sync::Arc;

use axum::extract::{OriginalUri, Request, State};
use axum::http::Method;
use axum::response::Response;

use everstep_engine::streams::FEEDS;

use crate::auth::{Caller, Requirement};
use crate::connections::Closing;
use crate::failure::Failure;
use crate::journals::{Journals, dispatch_feed};
use crate::parameters::{Parameter, parameters};
use crate::route::Route;
use crate::stream_protocol::{RESERVED, is_journal};
use crate::streams::{self, Address, StreamRequest, StreamServer, decode};
use crate::subscriptions::{self, SubscriptionRequest};

#[derive(Clone)]
pub(crate) struct StreamRoutes {
    pub(crate) server: Arc<StreamServer>,
    pub(crate) journals: Arc<Journals>,
}

/// Returns one route per method. What it requires depends on the path: a user's stream, a journal
/// or a subscription.
pub(crate) fn routes() -> Vec<Route<StreamRoutes>> {
    const PATH: &str = "/v1/stream/{*path}";
    const STREAM: Requirement = Requirement::Stream;
    vec![
        Route::get(PATH, STREAM, dispatch)
            .summary("Read a stream or a journal from an offset, and optionally wait for more")
            .parameters(PARAMETERS)
            .returns_any(200, "*/*", "The messages from the offset on.")
            .returns_empty(204, "No messages arrived before the long-poll timed out.")
            .returns_empty(304, "Not modified."),
        Route::head(PATH, STREAM, dispatch)
            .summary("Read the metadata of a stream")
            .returns_empty(200, "The metadata, in the headers."),
        Route::put(PATH, STREAM, dispatch)
            .summary("Create a stream")
            .accepts_any("*/*")
            .returns_empty(201, "The stream was created.")
            .returns_empty(200, "The stream exists with the same settings."),
        Route::post(PATH, STREAM, dispatch)
            .summary(
                "Append to a stream, close it, or both; append an event or an answer to a journal",
            )
            .accepts_any("*/*")
            .returns_empty(204, "Appended.")
            .returns_empty(200, "Appended by an idempotent producer."),
        Route::delete(PATH, STREAM, dispatch)
            .summary("Delete a stream")
            .returns_empty(204, "The stream is deleted."),
    ]
}

/// The parameters of a read. Others are ignored, as the protocol requires.
const PARAMETERS: &[Parameter] = parameters! {
    "offset": Text, "Where to begin: an offset from an earlier response, `-1` for the start, or `now` for the end.";
    "live": Text, "`long-poll` or `sse`, to wait for more messages.";
    "cursor": Text, "The `Stream-Cursor` of the previous response.";
    "view": Text, "The view of a journal: `full`, `state` or `client`.";
};

async fn dispatch(
    State(routes): State<StreamRoutes>,
    OriginalUri(original): OriginalUri,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let StreamRoutes { server, journals } = routes;
    let public_url = server.options.public_url.as_deref();
    let Some(address) = Address::new(public_url, &original, &parts) else {
        return Err(Failure::unknown_route());
    };
    // The gate always inserts a caller, except for public addresses; without one, nothing is
    // allowed.
    let caller = parts.extensions.get::<Caller>().cloned();
    let caller = caller.unwrap_or_else(Caller::without_rights);
    let (method, headers) = (parts.method, parts.headers);
    if let Some(feed) = address.raw.strip_prefix(FEEDS).map(str::to_owned) {
        let request = StreamRequest {
            address,
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers,
            body,
            caller,
            closing: Closing::of(&parts.extensions),
        };
        return Box::pin(dispatch_feed(server, method, &feed, request)).await;
    }
    if let Some(rest) = address.raw.strip_prefix(RESERVED) {
        let request = SubscriptionRequest {
            method,
            rest: rest.to_owned(),
            base_url: format!("{}{}", address.site, address.base),
            headers,
            limits: caller.limits().clone(),
        };
        let (subscriptions, limits) = (&server.subscriptions, server.body_limits);
        // In a box like the other large futures, so that an append does not allocate space for it.
        return Box::pin(subscriptions::dispatch(
            subscriptions,
            request,
            body,
            limits,
        ))
        .await;
    }
    let path = decode(&address.raw)?.into_owned();
    let request = StreamRequest {
        address,
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
        caller,
        closing: Closing::of(&parts.extensions),
    };
    if is_journal(&path) {
        return Box::pin(journals.dispatch(method, &path, request)).await;
    }
    match method {
        Method::PUT => streams::put(&server, request).await,
        Method::POST => streams::post(&server, request).await,
        Method::GET => streams::get(server, request).await,
        Method::HEAD => streams::head(&server, request).await,
        Method::DELETE => streams::delete(&server, request).await,
        _ => Err(Failure::unknown_method()),
    }
}
