//! Whether the process lives, and whether it can serve: for those who start, stop and balance processes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::router::Shared;

/// That all is well.
#[derive(Serialize, JsonSchema)]
pub(super) struct Well {
    /// In which way.
    status: &'static str,
}

/// It answers, so it lives.
pub(super) async fn live() -> Response {
    well("live")
}

/// Whether requests would be served: the engine is open, and its store takes writes.
pub(super) async fn ready(State(shared): State<Arc<Shared>>) -> Result<Response, Failure> {
    shared.engine.ready()?;
    Ok(well("ready"))
}

fn well(status: &'static str) -> Response {
    let fresh = [(header::CACHE_CONTROL, "no-store")];
    (fresh, Json(Well { status })).into_response()
}
