//! The error for a benchmark that the arguments do not describe completely or correctly.

/// Wrong arguments, with a sentence that says how to correct them.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
#[allow(missing_docs, reason = "the fields are the two halves of the message")]
pub struct UsageError {
    pub what: String,
    pub remedy: String,
}
