//! Problem details (RFC 9457) with a permanent error code.

use everstep_model::ErrorCode;
use serde::{Deserialize, Serialize};

/// The media type of a [`Problem`].
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A response that rejects a request or reports a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// URI that identifies the kind of problem; `code` is more specific.
    #[serde(rename = "type", default = "blank")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, and what to do about it.
    pub detail: String,
    /// The permanent error code, explained in `docs/errors/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How many records of an append were taken before the one that was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<u64>,
}

impl Problem {
    /// Creates a problem without a code.
    #[must_use]
    pub fn new(status: u16, title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            kind: blank(),
            title: title.into(),
            status,
            detail: detail.into(),
            code: None,
            appended: None,
        }
    }

    /// Sets the error code.
    #[must_use]
    pub fn coded(mut self, code: ErrorCode) -> Self {
        self.code = Some(code.as_str().to_owned());
        self
    }

    /// Returns the error code, if this version knows it.
    #[must_use]
    pub fn error_code(&self) -> Option<ErrorCode> {
        self.code.as_deref().and_then(ErrorCode::parse)
    }
}

fn blank() -> String {
    "about:blank".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_codes_of_newer_releases_are_kept() {
        let text = r#"{"title":"Conflict","status":409,"detail":"no","code":"from_the_future"}"#;
        let problem: Problem = serde_json::from_str(text).unwrap();
        assert_eq!(problem.error_code(), None);
        assert_eq!(problem.code.as_deref(), Some("from_the_future"));
        let known = problem.coded(ErrorCode::RunExists);
        assert_eq!(known.error_code(), Some(ErrorCode::RunExists));
    }
}
