//! Extracts the session of a request. Callers may only use sessions whose workflows they may
//! execute, so the id of a session alone gives no rights.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::error::unknown_session;
use super::pool::Pool;
use super::request::WorkerRoutes;
use crate::auth::Caller;
use crate::failure::Failure;

/// The id of a session that the caller may use. The session may not exist.
pub(crate) struct OwnSession(pub(super) String);

impl FromRequestParts<WorkerRoutes> for OwnSession {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        routes: &WorkerRoutes,
    ) -> Result<Self, Self::Rejection> {
        let path = Path::<String>::from_request_parts(parts, routes).await;
        let Path(session) = path.map_err(|_| unknown_session())?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.unwrap_or_else(Caller::without_rights);
        match routes.pool.may_be_used_by(&session, &caller) {
            true => Ok(Self(session)),
            // Do not reveal whether the session exists.
            false => Err(unknown_session()),
        }
    }
}

impl Pool {
    fn may_be_used_by(&self, session: &str, caller: &Caller) -> bool {
        let state = self.state();
        let offers = state.sessions.get(session).map(|found| found.offers.iter());
        let mut offers = offers.into_iter().flatten();
        offers.all(|offer| caller.may_work_on(offer.workflow.as_str()))
    }
}
