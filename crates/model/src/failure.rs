//! The error object: how a failure is written into a journal and shown to people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::limits;

/// A failure as data: `{code, name, message, stack?, cause?, attempt}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// One of [`ErrorCode`], or a word of the application's own.
    pub code: String,
    /// The name of the error, such as its type.
    pub name: String,
    /// What happened, for people.
    pub message: String,
    /// Where it happened, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// What led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Failure>>,
    /// The attempt that failed, from 1; 0 where attempts do not apply.
    #[serde(default)]
    pub attempt: u32,
}

impl Failure {
    /// A failure with one of our codes.
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

    /// The same failure under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same failure with what led to it; of a very long chain of causes the end is left out.
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

    /// The same failure of a certain attempt.
    #[must_use]
    pub fn at_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Whether the code is this one.
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
