//! `POST /v1/workers/{session}/claim`: waits for runs to execute and for notifications about
//! the runs that the session has.

use std::sync::Arc;

use axum::Json;
use everstep_protocol::worker::{ClaimAnswer, ClaimRequest, Item};
use futures_util::future::{Either, select};

use super::pool::{Pool, unknown_session};
use super::request::{JsonBody, OwnSession};
use crate::connections::Closing;
use crate::failure::Failure;

pub(super) async fn claim(
    OwnSession { pool, id }: OwnSession,
    server: Closing,
    JsonBody(request): JsonBody<ClaimRequest>,
) -> Result<Json<ClaimAnswer>, Failure> {
    let (waiting, news) = pool.begin_waiting(&id, &request)?;
    let engine = &pool.engine;
    let mut timeout = engine.runtime().sleep(pool.claim_timeout());
    let mut engine_closing = std::pin::pin!(engine.closing());
    let mut server_closing = std::pin::pin!(server.begun());
    let is_closing = || engine.is_closing() || server.has_begun();
    let items = loop {
        // Registered before the items are read, so that later items wake the claim.
        let mut notified = std::pin::pin!(news.notified());
        notified.as_mut().enable();
        let items = pool.items(&id)?;
        if !items.is_empty() || is_closing() {
            drop(waiting);
            break items;
        }
        let closing = select(&mut engine_closing, &mut server_closing);
        let ended = select(&mut timeout, closing);
        if let Either::Right(_) = select(notified, ended).await {
            // A run may be assigned as long as the claim waits, so read the items after that.
            drop(waiting);
            break pool.items(&id)?;
        }
    };
    Ok(Json(ClaimAnswer {
        items,
        now: pool.now(),
        closing: is_closing(),
    }))
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
        let pool = self;
        Ok((WaitingClaim { pool, session }, news))
    }

    fn items(&self, session: &str) -> Result<Vec<Item>, Failure> {
        let state = self.state();
        let session = state.sessions.get(session);
        Ok(session.ok_or_else(unknown_session)?.items())
    }
}
