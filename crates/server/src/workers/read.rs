//! `POST /v1/workers/{session}/read`: the unredacted journal of a run, from a record on.

use axum::Json;
use everstep_engine::Unavailable;
use everstep_model::ErrorCode;
use everstep_protocol::worker::{ReadAnswer, ReadRequest, WireEntry};
use tokio::sync::oneshot;

use super::request::{JsonBody, OwnSession};
use super::seat::Command;
use crate::failure::Failure;

pub(super) async fn read(
    OwnSession { pool, id }: OwnSession,
    JsonBody(request): JsonBody<ReadRequest>,
) -> Result<Json<ReadAnswer>, Failure> {
    let number = pool.seat_of(&request.token, &id)?;
    let (reply, read) = oneshot::channel();
    {
        let state = pool.state_of(&id)?;
        let seat = state.seat_of(&id, number).ok_or_else(not_its_run)?;
        let from = request.from;
        let sent = seat.commands.send(Command::Read { from, reply });
        sent.map_err(|_| not_its_run())?;
    }
    let records = read.await.map_err(|_| not_its_run())?;
    let records = records.map_err(Unavailable::from)?;
    Ok(Json(ReadAnswer {
        records: records.into_iter().map(WireEntry).collect(),
        now: pool.now(),
    }))
}

fn not_its_run() -> Failure {
    let detail = "the session no longer executes this run";
    Failure::conflict(ErrorCode::Fenced, detail)
}
