//! The session that an address names, for whoever may execute all that it offers. Who knows the id of another's session has
//! nothing by it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::pool::Pool;
use super::request::no_session;
use crate::auth::Caller;
use crate::failure::Failure;
use crate::router::Shared;

/// The id of a session that is the caller's to use, or of none.
pub(crate) struct OwnSession(pub(super) String);

impl FromRequestParts<Arc<Shared>> for OwnSession {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        shared: &Arc<Shared>,
    ) -> Result<Self, Self::Rejection> {
        let path = Path::<String>::from_request_parts(parts, shared).await;
        let Path(session) = path.map_err(|_| no_session())?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.unwrap_or_else(Caller::nobody);
        match shared.workers.may_be_used_by(&session, &caller) {
            true => Ok(Self(session)),
            // Whether it exists is nobody else's business.
            false => Err(no_session()),
        }
    }
}

impl Pool {
    fn may_be_used_by(&self, session: &str, caller: &Caller) -> bool {
        let state = self.state();
        let offers = state.sessions.get(session).map(|its| its.offers.iter());
        let mut offers = offers.into_iter().flatten();
        offers.all(|offer| caller.may_work_on(offer.workflow.as_str()))
    }
}
