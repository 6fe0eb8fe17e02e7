//! The error for a wrong command line or setting. It ends the process with exit code 2, as clap
//! does.

/// A message, and a sentence that says how to correct the mistake.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct UsageError {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl UsageError {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}
