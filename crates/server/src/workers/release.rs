//! `POST …/release` releases runs, and `POST …/heartbeat` keeps a session alive.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_protocol::worker::ReleaseRequest;

use super::own_session::OwnSession;
use super::request::{WorkerRoutes, respond};

pub(super) async fn release(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request: ReleaseRequest = routes.json(body).await?;
        routes.pool.release(&session, &request.tokens)?;
        Ok(routes.pool.acknowledgement())
    };
    respond(answer.await)
}

pub(super) async fn heartbeat(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
) -> Response {
    let alive = routes.pool.state_of(&session).map(drop);
    respond(alive.map(|()| routes.pool.acknowledgement()))
}
