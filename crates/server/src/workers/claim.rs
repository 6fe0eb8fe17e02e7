//! `POST /v1/workers/{session}/claim`: waits for runs to execute and for news of the runs that the
//! session has.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_protocol::worker::{ClaimAnswer, ClaimRequest, Item};
use futures_util::future::{Either, select};

use super::error::unknown_session;
use super::own_session::OwnSession;
use super::pool::Pool;
use super::request::{WorkerRoutes, respond};
use crate::failure::Failure;

pub(super) async fn claim(
    State(routes): State<WorkerRoutes>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = routes.json(body).await?;
        routes.pool.claim(&session, request).await
    };
    respond(answer.await)
}

/// A waiting claim. Runs are assigned to a session only while one of its claims waits.
struct WaitingClaim<'a> {
    pool: &'a Pool,
    session: &'a str,
}

impl Drop for WaitingClaim<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.pool.state().sessions.get_mut(self.session) {
            session.waiting -= 1;
        }
    }
}

impl Pool {
    async fn claim(&self, session: &str, request: ClaimRequest) -> Result<ClaimAnswer, Failure> {
        let (waiting, news) = self.begin_waiting(session, &request)?;
        let mut sleep = self.engine.runtime().sleep(self.claim_timeout());
        let mut closing = std::pin::pin!(self.engine.closing());
        loop {
            // Registered before the items are read, so that later items wake the claim.
            let mut notified = std::pin::pin!(news.notified());
            notified.as_mut().enable();
            let items = self.items(session)?;
            if !items.is_empty() || self.engine.is_closing() {
                drop(waiting);
                return Ok(self.answer(items));
            }
            let timeout_or_closing = select(&mut sleep, &mut closing);
            match select(notified, timeout_or_closing).await {
                Either::Left(_) => {}
                Either::Right(_) => {
                    drop(waiting);
                    return Ok(self.answer(self.items(session)?));
                }
            }
        }
    }

    fn begin_waiting<'a>(
        &'a self,
        session: &'a str,
        request: &ClaimRequest,
    ) -> Result<(WaitingClaim<'a>, Arc<tokio::sync::Notify>), Failure> {
        let now = self.elapsed();
        let mut state = self.state();
        let sender = state.sessions.get_mut(session);
        let sender = sender.ok_or_else(unknown_session)?;
        sender.seen_at = now;
        sender.acknowledge(request.after);
        sender.waiting += 1;
        sender.leaving |= request.leaving;
        let news = sender.news();
        let withdrawn = sender.offered.take_if(|_| request.leaving);
        if request.leaving {
            state.give_back_unoffered();
        }
        state.fill(session);
        drop(state);
        // Dropping the offer takes a lock of the engine, so the pool must be unlocked.
        drop(withdrawn);
        let waiting = WaitingClaim {
            pool: self,
            session,
        };
        Ok((waiting, news))
    }

    fn items(&self, session: &str) -> Result<Vec<Item>, Failure> {
        let state = self.state();
        let session = state.sessions.get(session);
        Ok(session.ok_or_else(unknown_session)?.items())
    }

    fn answer(&self, items: Vec<Item>) -> ClaimAnswer {
        ClaimAnswer {
            items,
            now: self.now(),
            closing: self.engine.is_closing(),
        }
    }
}
