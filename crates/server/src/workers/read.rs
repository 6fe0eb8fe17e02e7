//! `POST /v1/workers/{session}/read`: the journal of a run from a record on, nothing withheld.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_engine::EngineError;
use everstep_protocol::worker::{ReadAnswer, ReadRequest, WireEntry};
use tokio::sync::oneshot;

use super::own_session::OwnSession;
use super::pool::Pool;
use super::request::{answered, json, not_its_run};
use super::seat::Order;
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn read(
    State(shared): State<Arc<Shared>>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = json(&shared, body).await?;
        shared.workers.read(&session, request).await
    };
    answered(answer.await)
}

impl Pool {
    async fn read(&self, session: &str, request: ReadRequest) -> Result<ReadAnswer, Failure> {
        let seat = self.seat_of(&request.token, session)?;
        let (reply, read) = oneshot::channel();
        {
            let state = self.state_of(session)?;
            let seat = state.seats.get(&seat).filter(|seat| seat.is_of(session));
            let from = request.from;
            let order = Order::Read { from, reply };
            let sent = seat.map(|seat| seat.orders.send(order).is_ok());
            if sent != Some(true) {
                return Err(not_its_run());
            }
        }
        let records = read.await.map_err(|_| not_its_run())?;
        let records = records.map_err(EngineError::from)?;
        Ok(ReadAnswer {
            records: records.into_iter().map(WireEntry).collect(),
            now: self.now(),
        })
    }
}
