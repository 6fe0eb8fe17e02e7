//! `POST /v1/workers/{session}/read`: the unredacted journal of a run, from a record on.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_engine::Unavailable;
use everstep_protocol::worker::{ReadAnswer, ReadRequest, WireEntry};
use tokio::sync::oneshot;

use super::error::not_its_run;
use super::own_session::OwnSession;
use super::pool::Pool;
use super::request::{WorkerRoutes, respond};
use super::seat::Command;
use crate::failure::Failure;

pub(super) async fn read(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = routes.json(body).await?;
        routes.pool.read(&session, request).await
    };
    respond(answer.await)
}

impl Pool {
    async fn read(&self, session: &str, request: ReadRequest) -> Result<ReadAnswer, Failure> {
        let number = self.seat_of(&request.token, session)?;
        let (reply, read) = oneshot::channel();
        {
            let state = self.state_of(session)?;
            let seat = state.seats.get(&number);
            let seat = seat.filter(|seat| seat.belongs_to(session));
            let from = request.from;
            let command = Command::Read { from, reply };
            let sent = seat.map(|seat| seat.commands.send(command).is_ok());
            if sent != Some(true) {
                return Err(not_its_run());
            }
        }
        let records = read.await.map_err(|_| not_its_run())?;
        let records = records.map_err(Unavailable::from)?;
        Ok(ReadAnswer {
            records: records.into_iter().map(WireEntry).collect(),
            now: self.now(),
        })
    }
}
