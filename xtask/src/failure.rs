//! Why a chore stopped: a message for a person, and the exit code that scripts see.

use std::fmt;

/// A chore that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    /// The work was tried and did not succeed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 1,
        }
    }

    /// The command line made no sense; nothing was tried.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 2,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// The same failure with one more line of advice below it.
    pub(crate) fn with_line(mut self, line: &str) -> Self {
        self.message.push('\n');
        self.message.push_str(line);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
