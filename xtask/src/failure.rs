//! The error of a command: a message for people and an exit code for scripts.

use std::fmt;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    /// The command ran and failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 1,
        }
    }

    /// The command line was invalid; nothing ran.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 2,
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Appends a line of advice.
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
