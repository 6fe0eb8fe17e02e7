//! Health checks: whether the process is alive, and whether it can serve requests.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::Requirement;
use crate::failure::Failure;
use crate::json::respond;
use crate::route::Route;

/// The result of a successful health check.
#[derive(Serialize, JsonSchema)]
struct Health {
    /// `live` or `ready`.
    status: &'static str,
}

pub(crate) fn routes() -> Vec<Route<Engine>> {
    vec![
        Route::get("/health/live", Requirement::Public, live)
            .summary("Check that the process is alive")
            .returns::<Health>(200, "The process is alive."),
        Route::get("/health/ready", Requirement::Public, ready)
            .summary("Check that the node serves requests")
            .returns::<Health>(200, "The node serves requests."),
    ]
}

async fn live() -> Response {
    healthy("live")
}

/// Succeeds if the engine is open and its store accepts writes.
async fn ready(State(engine): State<Engine>) -> Result<Response, Failure> {
    engine.ready()?;
    Ok(healthy("ready"))
}

fn healthy(status: &'static str) -> Response {
    respond(StatusCode::OK, &Health { status })
}
