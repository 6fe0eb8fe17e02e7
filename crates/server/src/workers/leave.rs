//! `DELETE /v1/workers/{session}`: the session ends in good order. What it still has goes to others at once.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::own_session::OwnSession;
use super::request::answered;
use crate::router::Shared;

pub(crate) async fn leave(
    State(shared): State<Arc<Shared>>,
    OwnSession(session): OwnSession,
) -> Response {
    shared.workers.end(&session, false);
    answered(Ok(shared.workers.heard()))
}
