//! What the requests of workers share: the state of their routes, and extractors.

use std::sync::Arc;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;

use super::pool::{Pool, unknown_session};
use crate::auth::Caller;
use crate::body::unreadable;
use crate::failure::Failure;
use crate::json;

/// The maximum nesting depth of a request. Payloads that clients sent in requests of their own are
/// nested deeper in the requests of workers.
const DEPTH_MAX: usize = 2 * json::DEPTH_MAX;

#[derive(Clone)]
pub(crate) struct WorkerRoutes {
    pub(crate) pool: Arc<Pool>,
    pub(crate) body_timeout: Duration,
    pub(crate) body_bytes_max: usize,
}

/// The session of a request. It may not exist.
///
/// Callers may only use sessions whose workflows they may execute, so the id of a session alone
/// gives no rights.
pub(crate) struct OwnSession {
    pub(super) pool: Arc<Pool>,
    pub(super) id: String,
}

impl FromRequestParts<WorkerRoutes> for OwnSession {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, routes: &WorkerRoutes) -> Result<Self, Failure> {
        let path = Path::<String>::from_request_parts(parts, routes).await;
        let Path(id) = path.map_err(|_| unknown_session())?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.unwrap_or_else(Caller::without_rights);
        let pool = routes.pool.clone();
        match pool.may_be_used_by(&id, &caller) {
            true => Ok(Self { pool, id }),
            // Do not reveal whether the session exists.
            false => Err(unknown_session()),
        }
    }
}

/// The JSON body of a request.
pub(crate) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<WorkerRoutes> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, routes: &WorkerRoutes) -> Result<Self, Failure> {
        // The clock of the engine, which simulations replace.
        let timeout = routes.pool.engine.runtime().sleep(routes.body_timeout);
        let max = routes.body_bytes_max;
        let (parts, body) = request.into_parts();
        let whole = std::pin::pin!(to_bytes(body, max));
        let bytes = match select(whole, timeout).await {
            Either::Left((Ok(bytes), _)) => bytes,
            Either::Left((Err(error), _)) => {
                return Err(unreadable(&error, max, Some("worker_body_bytes_max")));
            }
            Either::Right(_) => {
                let failure = Failure::invalid("the body did not arrive in time");
                return Err(failure.with_status(StatusCode::REQUEST_TIMEOUT));
            }
        };
        json::check(&parts.headers, &bytes, DEPTH_MAX)?;
        let parsed = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::invalid(format!("the body does not match this request: {error}"))
        });
        parsed.map(Self)
    }
}
