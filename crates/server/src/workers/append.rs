//! `POST /v1/workers/{session}/append`: appends to many runs at once. Responds when all appends are
//! durable.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_engine::Append;
use everstep_protocol::worker::{APPENDS_MAX, AppendAnswer, AppendRequest, OneAnswer, OneAppend};
use futures_util::future::join_all;
use tokio::sync::oneshot;

use super::convert;
use super::own_session::OwnSession;
use super::pool::Pool;
use super::request::{WorkerRoutes, respond};
use super::seat::{Command, SeatState};
use super::state::PoolState;
use crate::failure::Failure;

pub(super) async fn append(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = routes.json(body).await?;
        routes.pool.append(&session, request).await
    };
    respond(answer.await)
}

/// An append that its worker may make.
struct Permitted {
    seat: u64,
    seq: u64,
    append: Box<Append>,
}

enum Forwarded {
    Answered(OneAnswer),
    InFlight(oneshot::Receiver<OneAnswer>),
}

impl Pool {
    async fn append(&self, session: &str, request: AppendRequest) -> Result<AppendAnswer, Failure> {
        if request.appends.len() > APPENDS_MAX {
            let detail = format!("a request has at most {APPENDS_MAX} appends");
            return Err(Failure::invalid(detail));
        }
        // All are checked before the first is forwarded: a rejected request has no effect.
        let appends: Vec<Permitted> = request
            .appends
            .into_iter()
            .map(|append| self.permitted(append, session))
            .collect::<Result<_, _>>()?;
        let forwarded: Vec<Forwarded> = {
            let state = self.state_of(session)?;
            let appends = appends.into_iter();
            appends
                .map(|append| forward(&state, session, append))
                .collect()
        };
        let answers = forwarded
            .into_iter()
            .map(async |forwarded| match forwarded {
                Forwarded::Answered(answer) => answer,
                Forwarded::InFlight(answer) => answer.await.unwrap_or(OneAnswer::Lost),
            });
        let answers = join_all(answers).await;
        self.release(session, &request.released)?;
        Ok(AppendAnswer {
            answers,
            now: self.now(),
        })
    }

    fn permitted(&self, append: OneAppend, session: &str) -> Result<Permitted, Failure> {
        Ok(Permitted {
            seat: self.seat_of(&append.token, session)?,
            seq: append.seq,
            append: Box::new(convert::append(append)?),
        })
    }
}

fn forward(state: &PoolState, session: &str, permitted: Permitted) -> Forwarded {
    let Permitted { seat, seq, append } = permitted;
    let seat = state.seats.get(&seat);
    let seat = seat.filter(|seat| seat.belongs_to(session));
    match seat.map(|seat| (&seat.state, &seat.commands)) {
        Some((SeatState::Held { .. }, commands)) => {
            let (reply, answer) = oneshot::channel();
            let _ = commands.send(Command::Append { seq, append, reply });
            Forwarded::InFlight(answer)
        }
        Some((
            SeatState::Finished {
                seq: last_seq,
                last,
                ..
            },
            _,
        )) => {
            let last = last.clone().filter(|_| *last_seq == seq);
            Forwarded::Answered(last.unwrap_or(OneAnswer::Lost))
        }
        Some((SeatState::Queued(_) | SeatState::Assigned { .. }, _)) | None => {
            Forwarded::Answered(OneAnswer::Lost)
        }
    }
}
