//! Whether the process lives, and whether it can serve: for those who start, stop and balance processes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;
use crate::router::Shared;

/// It answers, so it lives.
pub(super) async fn live() -> Response {
    well("live")
}

/// Whether requests would be served: the engine is open, and its store takes writes.
pub(super) async fn ready(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    shared.engine.ready()?;
    Ok(well("ready"))
}

fn well(status: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let body = format!("{{\"status\":\"{status}\"}}");
    (StatusCode::OK, headers, body).into_response()
}
