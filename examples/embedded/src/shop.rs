//! The application: its own routes and middleware, and the flows under a prefix.

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use everstep::Engine;
use everstep_protocol::access::Scope;
use everstep_server::{Caller, Options, router};
use serde_json::json;

use crate::order::{Order, Wish};

/// Returns the shop, with the Everstep server below `/flows`.
pub(crate) fn app(engine: &Engine) -> Router {
    let flows = router(engine, Options::default()).layer(from_fn(authenticate_staff));
    Router::new()
        .route("/", get(welcome))
        .route("/orders/{id}", post(place_order))
        .with_state(engine.clone())
        .nest("/flows", flows)
}

async fn welcome() -> &'static str {
    "Welcome to the shop. We sell teapots."
}

/// The shop's own route starts a run through the engine, without an HTTP request.
async fn place_order(
    State(engine): State<Engine>,
    Path(id): Path<String>,
    Json(wish): Json<Wish>,
) -> Response {
    match engine.start::<Order>(&wish).id(&id).await {
        Ok(run) => Json(json!({"order": run.id(), "isNew": run.created()})).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

/// The shop recognises its staff by a header; a real one would use a session. The staff needs no
/// key and gets the scopes that the shop grants. All others need a key or a run token.
async fn authenticate_staff(mut request: Request, next: Next) -> Response {
    let name = request.headers().get("x-staff");
    if let Some(name) = name.and_then(|name| name.to_str().ok()) {
        let scopes = [Scope::Read, Scope::Send, Scope::Operate];
        let staff = Caller::with_scopes(name, scopes);
        request.extensions_mut().insert(staff);
    }
    next.run(request).await
}
