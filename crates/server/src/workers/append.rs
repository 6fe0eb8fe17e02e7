//! `POST /v1/workers/{session}/append`: what happened, of many runs at once. Answered when all of it is durable.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as AxumState;
use axum::response::Response;
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
        let seats: Vec<u64> = request
            .appends
            .iter()
            .map(|append| self.seat_of(&append.token, session))
            .collect::<Result<_, _>>()?;
        let passed: Vec<Passed> = {
            let mut state = self.state_of(session)?;
            let appends = request.appends.into_iter().zip(seats);
            let passed = appends.map(|(append, seat)| pass_on(&mut state, session, seat, append));
            passed.collect::<Result<_, _>>()?
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

    /// Which run a token is for.
    pub(super) fn seat_of(&self, token: &str, session: &str) -> Result<u64, Failure> {
        let right = self.tokens.read(token, session);
        Ok(right.ok_or_else(bad_token)?.seat)
    }
}

fn pass_on(
    state: &mut State,
    session: &str,
    seat: u64,
    append: OneAppend,
) -> Result<Passed, Failure> {
    let seq = append.seq;
    let unfit = || Failure::invalid("`then` and `status` do not go together");
    let append = convert::append(append).ok_or_else(unfit)?;
    let seat = state.seats.get(&seat).filter(|seat| seat.is_of(session));
    Ok(match seat.map(|seat| (&seat.place, &seat.orders)) {
        Some((Place::With { .. }, orders)) => {
            let (reply, answer) = oneshot::channel();
            let append = Box::new(append);
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
        Some((Place::Waiting(_), _)) | None => Passed::Answered(OneAnswer::Lost),
    })
}
