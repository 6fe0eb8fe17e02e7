//! `POST /v1/workers/{session}/append`: what happened, of many runs at once. Answered when all of it is durable.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as AxumState;
use axum::response::Response;
use everstep_engine::Append;
use everstep_protocol::worker::{APPENDS_MAX, AppendAnswer, AppendRequest, OneAnswer, OneAppend};
use futures_util::future::join_all;
use tokio::sync::oneshot;

use super::convert;
use super::own_session::OwnSession;
use super::pool::{Pool, State};
use super::request::{answered, bad_token, json};
use super::seat::{Order, Place};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn append(
    AxumState(shared): AxumState<Arc<Shared>>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = json(&shared, body).await?;
        shared.workers.append(&session, request).await
    };
    answered(answer.await)
}

/// An append that its worker may make.
struct Permitted {
    seat: u64,
    seq: u64,
    append: Box<Append>,
}

/// What is known of an append when all have been passed on.
enum Passed {
    Answered(OneAnswer),
    UnderWay(oneshot::Receiver<OneAnswer>),
}

impl Pool {
    async fn append(&self, session: &str, request: AppendRequest) -> Result<AppendAnswer, Failure> {
        if request.appends.len() > APPENDS_MAX {
            let detail = format!("a request has at most {APPENDS_MAX} appends");
            return Err(Failure::invalid(detail));
        }
        let appends = request.appends.into_iter();
        // All of them before the first is passed on: what is refused has had no effect.
        let appends: Vec<Permitted> = appends
            .map(|append| self.permitted(append, session))
            .collect::<Result<_, _>>()?;
        let passed: Vec<Passed> = {
            let state = self.state_of(session)?;
            let appends = appends.into_iter();
            let passed = appends.map(|append| pass_on(&state, session, append));
            passed.collect()
        };
        let answers = passed.into_iter().map(async |passed| match passed {
            Passed::Answered(answer) => answer,
            Passed::UnderWay(answer) => answer.await.unwrap_or(OneAnswer::Lost),
        });
        let answers = join_all(answers).await;
        self.let_go_of(session, &request.released)?;
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

    /// Which run a token is for.
    pub(super) fn seat_of(&self, token: &str, session: &str) -> Result<u64, Failure> {
        let right = self.tokens.read(token, session);
        Ok(right.ok_or_else(bad_token)?.seat)
    }
}

fn pass_on(state: &State, session: &str, permitted: Permitted) -> Passed {
    let Permitted { seat, seq, append } = permitted;
    let seat = state.seats.get(&seat).filter(|seat| seat.is_of(session));
    match seat.map(|seat| (&seat.place, &seat.orders)) {
        Some((Place::With { .. }, orders)) => {
            let (reply, answer) = oneshot::channel();
            let _ = orders.send(Order::Append { seq, append, reply });
            Passed::UnderWay(answer)
        }
        Some((
            Place::Over {
                seq: last_seq,
                last,
                ..
            },
            _,
        )) => {
            let last = last.clone().filter(|_| *last_seq == seq);
            Passed::Answered(last.unwrap_or(OneAnswer::Lost))
        }
        Some((Place::Waiting(_) | Place::Coming { .. }, _)) | None => {
            Passed::Answered(OneAnswer::Lost)
        }
    }
}
