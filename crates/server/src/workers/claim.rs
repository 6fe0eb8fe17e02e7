//! `POST /v1/workers/{session}/claim`: runs to execute, and news of those the session has. Waits until there is some.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use everstep_protocol::worker::{ClaimAnswer, ClaimRequest, Item};
use futures_util::future::select;

use super::own_session::OwnSession;
use super::pool::Pool;
use super::request::{answered, json, no_session};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn claim(
    State(shared): State<Arc<Shared>>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request = json(&shared, body).await?;
        shared.workers.claim(&session, request).await
    };
    answered(answer.await)
}

/// A claim that waits; while one does, its session may be given runs.
struct Waits<'a> {
    pool: &'a Pool,
    session: &'a str,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.pool.state().sessions.get_mut(self.session) {
            session.waiting -= 1;
        }
    }
}

impl Pool {
    async fn claim(&self, session: &str, request: ClaimRequest) -> Result<ClaimAnswer, Failure> {
        let (waits, news) = self.begin_to_wait(session, &request)?;
        let mut sleep = self.engine.runtime().sleep(self.claim_wait());
        let mut closing = std::pin::pin!(self.engine.closing());
        loop {
            // Registered before looking, so that what comes after the look wakes it.
            let mut told = std::pin::pin!(news.notified());
            told.as_mut().enable();
            let items = self.items(session)?;
            if !items.is_empty() || self.engine.is_closing() {
                drop(waits);
                return Ok(self.claimed(items));
            }
            let late_or_closing = select(&mut sleep, &mut closing);
            match select(told, late_or_closing).await {
                futures_util::future::Either::Left(_) => {}
                futures_util::future::Either::Right(_) => {
                    drop(waits);
                    return Ok(self.claimed(self.items(session)?));
                }
            }
        }
    }

    fn begin_to_wait<'a>(
        &'a self,
        session: &'a str,
        request: &ClaimRequest,
    ) -> Result<(Waits<'a>, Arc<tokio::sync::Notify>), Failure> {
        let now = self.elapsed();
        let mut state = self.state();
        let its = state.sessions.get_mut(session);
        let its = its.ok_or_else(no_session)?;
        its.seen_at = now;
        its.acknowledge(request.after);
        its.waiting += 1;
        its.leaving |= request.leaving;
        let news = its.news();
        let withdrawn = its.offered.take_if(|_| request.leaving);
        if request.leaving {
            state.give_back_what_nobody_offers();
        }
        self.fill(&mut state, session);
        drop(state);
        // Outside the lock: it takes the engine's.
        drop(withdrawn);
        let waits = Waits {
            pool: self,
            session,
        };
        Ok((waits, news))
    }

    fn items(&self, session: &str) -> Result<Vec<Item>, Failure> {
        let state = self.state();
        let its = state.sessions.get(session);
        Ok(its.ok_or_else(no_session)?.items())
    }

    fn claimed(&self, items: Vec<Item>) -> ClaimAnswer {
        ClaimAnswer {
            items,
            now: self.now(),
            closing: self.engine.is_closing(),
        }
    }
}
