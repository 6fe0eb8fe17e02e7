//! Reading of request bodies within limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;

use crate::failure::Failure;
use crate::options::Options;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    bytes_max: usize,
    timeout: Duration,
}

impl BodyLimits {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            bytes_max: options.body_bytes_max,
            timeout: options.body_timeout,
        }
    }

    /// Reads the whole body.
    pub(crate) async fn read(self, body: Body) -> Result<Bytes, Failure> {
        let limit = self.bytes_max;
        match tokio::time::timeout(self.timeout, to_bytes(body, limit)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(_)) => Err(Failure::uncoded(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body could not be read, or is larger than {limit} bytes"),
            )),
            Err(_) => Err(Failure::uncoded(
                StatusCode::REQUEST_TIMEOUT,
                "the body took too long to arrive",
            )),
        }
    }
}
