//! `GET /openapi.json`: the description of the API, generated from the routes and the wire types so
//! that it always matches the code.

mod document;

use std::sync::Arc;

use axum::extract::{OriginalUri, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};

use crate::auth::Requirement;
use crate::route::{Endpoint, Route, bind};
use crate::route_doc::RouteDoc;

type Endpoints = Arc<Vec<Arc<Endpoint>>>;

/// The route that describes `others` and itself.
pub(crate) fn routes(others: &[Route]) -> Vec<Route> {
    let doc = RouteDoc::new("Describe this API")
        .returns::<serde_json::Value>(200, "The OpenAPI document.");
    let route = Route::get("/openapi.json", Requirement::Public, describe, doc);
    let mut endpoints: Vec<_> = others.iter().map(|other| other.endpoint.clone()).collect();
    endpoints.push(route.endpoint.clone());
    bind(&Arc::new(endpoints), vec![route])
}

async fn describe(
    State(endpoints): State<Endpoints>,
    OriginalUri(original): OriginalUri,
    inner: Uri,
) -> Response {
    let mount = original.path().strip_suffix(inner.path());
    let document = document::describe(&endpoints, mount.unwrap_or_default());
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, document.to_string()).into_response()
}
