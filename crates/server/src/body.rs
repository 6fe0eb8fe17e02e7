//! Reading of request bodies within limits of size and time.

use std::error::Error as _;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;
use everstep_model::ErrorCode;
use http_body_util::LengthLimitError;

use crate::body_budget::OverBudget;
use crate::failure::Failure;
use crate::options::Options;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    bytes_max: usize,
    /// The setting that has this limit of size, if one has.
    setting: Option<&'static str>,
    timeout: Duration,
}

impl BodyLimits {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            bytes_max: options.body_bytes_max,
            setting: Some("body_bytes_max"),
            timeout: options.body_timeout,
        }
    }

    /// Returns the limits of imports.
    pub(crate) fn of_imports(options: &Options) -> Self {
        Self {
            bytes_max: options.import_bytes_max,
            setting: Some("import_bytes_max"),
            timeout: options.body_timeout,
        }
    }

    /// Lowers the limit of size.
    pub(crate) fn at_most(self, bytes_max: usize) -> Self {
        match self.bytes_max <= bytes_max {
            true => self,
            false => Self {
                bytes_max,
                setting: None,
                ..self
            },
        }
    }

    /// Reads the whole body.
    pub(crate) async fn read(self, body: Body) -> Result<Bytes, Failure> {
        let limit = self.bytes_max;
        match tokio::time::timeout(self.timeout, to_bytes(body, limit)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(unreadable(&error, limit, self.setting)),
            Err(_) => Err(Failure::uncoded(
                StatusCode::REQUEST_TIMEOUT,
                "the body took too long to arrive",
            )),
        }
    }
}

/// Describes why [`to_bytes`] could not read a body within a limit of size.
pub(crate) fn unreadable(
    error: &axum::Error,
    bytes_max: usize,
    setting: Option<&'static str>,
) -> Failure {
    let source = error.source();
    let mut sources = std::iter::successors(source, |&error| error.source());
    if let Some(over) = sources.find_map(|error| error.downcast_ref::<OverBudget>()) {
        return (*over).into();
    }
    match source.is_some_and(|source| source.is::<LengthLimitError>()) {
        true => Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::PayloadTooLarge,
            match setting {
                Some(setting) => format!("the body has more than {bytes_max} bytes (`{setting}`)"),
                None => format!("the body has more than {bytes_max} bytes"),
            },
        ),
        false => Failure::invalid(format!("the body is malformed: {error}")),
    }
}
