//! The error object of journals and responses.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::limits;

/// The cause of a failure, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// A permanent error code, or a code of the application.
    pub code: String,
    /// The name of the error, such as its type.
    pub name: String,
    /// A message for humans.
    pub message: String,
    /// Where it happened, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The failure that caused this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Failure>>,
    /// The attempt that failed, counted from 1; 0 if attempts do not apply.
    #[serde(default)]
    pub attempt: u32,
}

impl Failure {
    /// Creates a failure with one of the engine's codes.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.as_str().to_owned(),
            name: code.as_str().to_owned(),
            message: message.into(),
            stack: None,
            cause: None,
            attempt: 0,
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the cause. Causes beyond the limit are dropped.
    #[must_use]
    pub fn caused_by(mut self, cause: Self) -> Self {
        self.cause = Some(Box::new(cause));
        let mut last = &mut self;
        for _ in 0..limits::CAUSES_MAX {
            match &mut last.cause {
                Some(cause) => last = cause,
                None => return self,
            }
        }
        last.cause = None;
        self
    }

    /// Sets the attempt.
    #[must_use]
    pub fn at_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Whether the failure has this code.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.code == code.as_str()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if self.name != self.code {
            write!(f, " ({})", self.name)?;
        }
        if let Some(cause) = &self.cause {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
