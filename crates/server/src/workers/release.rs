//! `POST …/release`: runs a worker lets go of. `POST …/heartbeat`: a sign of life.

use std::sync::{Arc, MutexGuard};

use axum::body::Body;
use axum::extract::State as AxumState;
use axum::response::Response;
use everstep_protocol::worker::{Acknowledged, ReleaseRequest};

use super::own_session::OwnSession;
use super::pool::{Pool, State};
use super::request::{answered, json, no_session};
use crate::failure::Failure;
use crate::router::Shared;

pub(crate) async fn release(
    AxumState(shared): AxumState<Arc<Shared>>,
    OwnSession(session): OwnSession,
    body: Body,
) -> Response {
    let answer = async {
        let request: ReleaseRequest = json(&shared, body).await?;
        shared.workers.let_go_of(&session, &request.tokens)?;
        Ok(shared.workers.heard())
    };
    answered(answer.await)
}

pub(crate) async fn heartbeat(
    AxumState(shared): AxumState<Arc<Shared>>,
    OwnSession(session): OwnSession,
) -> Response {
    let alive = shared.workers.state_of(&session).map(drop);
    answered(alive.map(|()| shared.workers.heard()))
}

impl Pool {
    pub(super) fn heard(&self) -> Acknowledged {
        Acknowledged { now: self.now() }
    }

    /// Everything under the lock, for a request of this session: it is alive.
    pub(super) fn state_of(&self, session: &str) -> Result<MutexGuard<'_, State>, Failure> {
        let now = self.elapsed();
        let mut state = self.state();
        let its = state.sessions.get_mut(session);
        its.ok_or_else(no_session)?.seen_at = now;
        Ok(state)
    }

    /// The worker is done with these. A run it has neither ended nor suspended was lost in it.
    pub(super) fn let_go_of(&self, session: &str, tokens: &[String]) -> Result<(), Failure> {
        let mut state = self.state_of(session)?;
        for token in tokens {
            let seat = self.seat_of(token, session)?;
            if state
                .seats
                .get(&seat)
                .is_some_and(|seat| seat.is_of(session))
            {
                state.let_go(seat, true);
            }
        }
        Ok(())
    }
}
