//! `POST /v1/workers/{session}/append`: appends to many runs at once. Responds when all appends are
//! durable.

use axum::Json;
use axum::extract::Extension;
use everstep_engine::Append;
use everstep_protocol::worker::{APPENDS_MAX, AppendAnswer, AppendRequest, OneAnswer, OneAppend};
use futures_util::future::join_all;
use tokio::sync::oneshot;

use super::convert;
use super::permitted;
use super::pool::Pool;
use super::reach;
use super::request::{JsonBody, OwnSession};
use super::seat::{Command, SeatState};
use super::state::PoolState;
use crate::auth::Caller;
use crate::failure::Failure;

pub(super) async fn append(
    OwnSession { pool, id }: OwnSession,
    Extension(caller): Extension<Caller>,
    JsonBody(request): JsonBody<AppendRequest>,
) -> Result<Json<AppendAnswer>, Failure> {
    if request.appends.len() > APPENDS_MAX {
        let detail = format!("a request has at most {APPENDS_MAX} appends");
        return Err(Failure::invalid(detail));
    }
    // All are checked before the first is forwarded: a rejected request has no effect.
    let appends = request.appends.into_iter();
    let appends = appends.map(|append| PermittedAppend::check(append, &pool, &id));
    let appends: Vec<PermittedAppend> = appends.collect::<Result<_, _>>()?;
    for permitted in &appends {
        reach::check(&pool.engine, &caller, &permitted.append).await?;
    }
    let answers: Vec<oneshot::Receiver<OneAnswer>> = {
        let state = pool.state_of(&id)?;
        let appends = appends.into_iter();
        appends.map(|append| append.forward(&state, &id)).collect()
    };
    let answers = join_all(answers).await.into_iter();
    let answers = answers.map(|answer| answer.unwrap_or(OneAnswer::Lost));
    let answers = answers.collect();
    pool.release(&id, &request.released)?;
    let now = pool.now();
    Ok(Json(AppendAnswer { answers, now }))
}

/// An append that its worker may make.
struct PermittedAppend {
    seat: u64,
    seq: u64,
    append: Box<Append>,
}

impl PermittedAppend {
    fn check(append: OneAppend, pool: &Pool, session: &str) -> Result<Self, Failure> {
        let seat = pool.seat_of(&append.token, session)?;
        let state = pool.state_of(session)?;
        let read = state.seat_of(session, seat).map(|seat| seat.read.end());
        if read.is_some_and(|end| append.seen > end) {
            return Err(permitted::rejected(
                "`seen` is beyond the records of the run that the worker has received",
            ));
        }
        drop(state);
        Ok(Self {
            seat,
            seq: append.seq,
            append: Box::new(convert::append(append)?),
        })
    }

    /// Forwards the append to the bridge of its run. The receiver fails if the run is lost.
    fn forward(self, state: &PoolState, session: &str) -> oneshot::Receiver<OneAnswer> {
        let Self { seat, seq, append } = self;
        let (reply, answer) = oneshot::channel();
        let seat = state.seat_of(session, seat);
        match seat.map(|seat| (&seat.state, &seat.commands)) {
            Some((SeatState::Held { .. }, commands)) => {
                let _ = commands.send(Command::Append { seq, append, reply });
            }
            // The last append is sent again.
            Some((SeatState::Finished { last, .. }, _)) if last.0 == seq => {
                let _ = reply.send(last.1.clone());
            }
            Some(_) | None => {}
        }
        answer
    }
}
