//! `GET /openapi.json`: the description of the API, generated from the routes and the wire types so
//! that it always matches the code.

mod document;

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{OriginalUri, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use serde_json::{Map, Value};

use crate::auth::Requirement;
use crate::response::no_store;
use crate::route::{Endpoint, Route, bind};

/// The routes, and the last document with the path at which the router was mounted. Anyone may ask
/// for it, so it is not generated for each request.
struct Description {
    endpoints: Vec<Endpoint>,
    last: Mutex<Option<(String, Bytes)>>,
}

/// Returns the route that describes `others` and itself.
pub(crate) fn routes(others: &[Route]) -> Vec<Route> {
    let route = Route::get("/openapi.json", Requirement::Public, describe)
        .summary("Describe this API")
        .returns::<Map<String, Value>>(200, "The OpenAPI document.");
    let mut endpoints: Vec<_> = others.iter().map(|other| other.endpoint.clone()).collect();
    endpoints.push(route.endpoint.clone());
    let description = Description {
        endpoints,
        last: Mutex::default(),
    };
    bind(&Arc::new(description), vec![route])
}

async fn describe(
    State(description): State<Arc<Description>>,
    OriginalUri(original): OriginalUri,
    inner: Uri,
) -> Response {
    let mount = original.path().strip_suffix(inner.path());
    let document = description.at(mount.unwrap_or_default());
    no_store(StatusCode::OK, "application/json", document)
}

impl Description {
    fn at(&self, mount: &str) -> Bytes {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, document)) if known == mount => document.clone(),
            _ => {
                let document = document::describe(&self.endpoints, mount);
                let document = Bytes::from(format!("{document}\n"));
                *last = Some((mount.to_owned(), document.clone()));
                document
            }
        }
    }
}
