//! `POST /v1/workers/{session}/append`: appends to many runs at once. Responds when all appends are
//! durable.

use axum::Json;
use axum::extract::Extension;
use everstep_engine::Append;
use everstep_model::RecordNumber;
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
    let mut judged = Vec::with_capacity(request.appends.len());
    for append in request.appends {
        judged.push(Judged::of(append, &pool, (&id, &caller)).await?);
    }
    let answers: Vec<oneshot::Receiver<OneAnswer>> = {
        let state = pool.state_of(&id)?;
        let judged = judged.into_iter();
        judged.map(|append| append.forward(&state, &id)).collect()
    };
    let answers = join_all(answers).await.into_iter();
    let answers = answers.map(|answer| answer.unwrap_or(OneAnswer::Lost));
    let answers = answers.collect();
    pool.release(&id, &request.released)?;
    let now = pool.now();
    Ok(Json(AppendAnswer { answers, now }))
}

/// An append, and whether its worker may make it.
struct Judged {
    seat: u64,
    seq: u64,
    append: Result<Box<Append>, OneAnswer>,
}

impl Judged {
    /// Fails only if the request is not about a run of this session.
    async fn of(
        append: OneAppend,
        pool: &Pool,
        (session, caller): (&str, &Caller),
    ) -> Result<Self, Failure> {
        let seat = pool.seat_of(&append.token, session)?;
        let read = {
            let state = pool.state_of(session)?;
            state.seat_of(session, seat).map(|seat| seat.read.end())
        };
        let seq = append.seq;
        let append = match permitted(append, read) {
            Ok(append) => reach::check(&pool.engine, caller, &append)
                .await
                .map(|()| append),
            Err(failure) => Err(failure),
        };
        let append = match append {
            Ok(append) => Ok(Box::new(append)),
            Err(failure) => Err(refused(failure)?),
        };
        Ok(Self { seat, seq, append })
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

/// Returns the append of a worker that has read the records up to this number, if the worker may
/// make it.
fn permitted(append: OneAppend, read: Option<RecordNumber>) -> Result<Append, Failure> {
    if read.is_some_and(|end| append.seen > end) {
        return Err(permitted::rejected(
            "`seen` is beyond the records of the run that the worker has received",
        ));
    }
    convert::append(append)
}

/// Returns the answer to an append that its worker may not make. Fails if it could not be judged.
fn refused(failure: Failure) -> Result<OneAnswer, Failure> {
    match failure.code().filter(|_| !failure.is_server_error()) {
        Some(code) => Ok(OneAnswer::Refused {
            code: code.as_str().to_owned(),
            detail: failure.into_detail(),
        }),
        None => Err(failure),
    }
}
