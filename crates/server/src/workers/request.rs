//! What the requests of workers share: the state of their routes, JSON bodies, and errors.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use everstep_model::ErrorCode;
use futures_util::future::{Either, select};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::pool::Pool;
use crate::failure::Failure;

#[derive(Clone)]
pub(crate) struct WorkerRoutes {
    pub(crate) pool: Arc<Pool>,
    pub(crate) body_timeout: Duration,
    pub(crate) body_bytes_max: usize,
}

impl WorkerRoutes {
    /// Parses a JSON body.
    pub(super) async fn json<T: DeserializeOwned>(&self, body: Body) -> Result<T, Failure> {
        let timeout = self.pool.sleep(self.body_timeout);
        let max = self.body_bytes_max;
        let whole = std::pin::pin!(to_bytes(body, max));
        let bytes = match select(whole, timeout).await {
            Either::Left((Ok(bytes), _)) => bytes,
            Either::Left((Err(_), _)) => {
                let detail = format!("the body has more than {max} bytes");
                let failure = Failure::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
                return Err(failure.coded(ErrorCode::PayloadTooLarge));
            }
            Either::Right(_) => {
                let detail = "the body did not arrive in time";
                return Err(Failure::invalid(detail).with_status(StatusCode::REQUEST_TIMEOUT));
            }
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::invalid(format!("the body does not match this request: {error}"))
        })
    }
}

pub(super) fn respond<T: Serialize>(answer: Result<T, Failure>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => failure.into_response(),
    }
}
