//! `GET /openapi.json`: the API described, from the table of routes and the types of the wire, so that it cannot say anything
//! else than the code does.

mod about;
mod document;

use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};

pub(crate) use about::About;

use crate::auth::Needs;
use crate::router::Shared;
use crate::routes::{Route, table};

pub(crate) fn routes() -> Vec<Route> {
    let about = About::new("This description").gives::<serde_json::Value>(200, "It.");
    vec![Route::get("/openapi.json", Needs::Nobody, describe).about(about)]
}

async fn describe(
    State(shared): State<Arc<Shared>>,
    OriginalUri(original): OriginalUri,
    inner: Uri,
) -> Response {
    let mount = original.path().strip_suffix(inner.path());
    let document = document::of(&table(shared.engine.roles()), mount.unwrap_or_default());
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, document.to_string()).into_response()
}
