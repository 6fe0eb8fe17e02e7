//! `POST …/release` releases runs, `POST …/heartbeat` keeps a session alive, and
//! `DELETE /v1/workers/{session}` ends it.

use axum::Json;
use everstep_protocol::worker::{Acknowledged, ReleaseRequest};

use super::pool::Pool;
use super::request::{JsonBody, OwnSession};
use crate::failure::Failure;

pub(super) async fn release(
    OwnSession { pool, id }: OwnSession,
    JsonBody(request): JsonBody<ReleaseRequest>,
) -> Result<Json<Acknowledged>, Failure> {
    pool.release(&id, &request.tokens)?;
    Ok(acknowledged(&pool))
}

pub(super) async fn heartbeat(
    OwnSession { pool, id }: OwnSession,
) -> Result<Json<Acknowledged>, Failure> {
    pool.state_of(&id).map(drop)?;
    Ok(acknowledged(&pool))
}

/// Ends a session. Its remaining runs are available to others at once.
pub(super) async fn leave(OwnSession { pool, id }: OwnSession) -> Json<Acknowledged> {
    pool.end(&id, false);
    acknowledged(&pool)
}

fn acknowledged(pool: &Pool) -> Json<Acknowledged> {
    Json(Acknowledged { now: pool.now() })
}
