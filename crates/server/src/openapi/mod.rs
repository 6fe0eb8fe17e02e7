//! `GET /openapi.json`: the description of the API, generated from the routes and the wire types so
//! that it always matches the code.

mod document;

use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde_json::{Map, Value};

use crate::auth::Requirement;
use crate::json::respond;
use crate::route::{Endpoint, Route, bind};

/// Returns the route that describes `others` and itself.
pub(crate) fn routes(others: &[Route]) -> Vec<Route> {
    let route = Route::get("/openapi.json", Requirement::Public, describe)
        .summary("Describe this API")
        .returns::<Map<String, Value>>(200, "The OpenAPI document.");
    let mut endpoints: Vec<_> = others.iter().map(|other| other.endpoint.clone()).collect();
    endpoints.push(route.endpoint.clone());
    bind(&Arc::new(endpoints), vec![route])
}

async fn describe(
    State(endpoints): State<Arc<Vec<Endpoint>>>,
    OriginalUri(original): OriginalUri,
    inner: Uri,
) -> Response {
    let mount = original.path().strip_suffix(inner.path());
    let document = document::describe(&endpoints, mount.unwrap_or_default());
    respond(StatusCode::OK, &document)
}
