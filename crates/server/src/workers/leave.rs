//! `DELETE /v1/workers/{session}` ends a session. Its remaining runs are available to others at once.

use axum::extract::State;
use axum::response::Response;

use super::own_session::OwnSession;
use super::request::{WorkerRoutes, respond};

pub(super) async fn leave(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
) -> Response {
    routes.pool.end(&session, false);
    respond(Ok(routes.pool.acknowledgement()))
}
