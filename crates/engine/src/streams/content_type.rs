//! Content types of streams. They are stored as given and compared without parameters and case.

use std::fmt;

use super::error::StreamError;

/// The content type of the messages of a stream.
#[derive(Clone, Debug)]
pub struct ContentType(String);

impl ContentType {
    /// Keeps a content type as given, for instance `application/json; charset=utf-8`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Returns the content type as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the content type without parameters, in lower case.
    #[must_use]
    pub fn essence(&self) -> String {
        let essence = self.0.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// Fails if messages of another type are given for a stream of this type.
    pub(super) fn check(&self, given: &Self) -> Result<(), StreamError> {
        if self == given {
            return Ok(());
        }
        let (stream, given) = (self.to_string(), given.to_string());
        Err(StreamError::ContentType { stream, given })
    }

    /// Returns whether the messages are JSON values, which are stored separately and served as
    /// arrays.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.essence() == "application/json"
    }

    /// Returns whether the messages are text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.essence().starts_with("text/")
    }
}

impl Default for ContentType {
    fn default() -> Self {
        Self::new("application/octet-stream")
    }
}

impl PartialEq for ContentType {
    fn eq(&self, other: &Self) -> bool {
        self.essence() == other.essence()
    }
}

impl Eq for ContentType {}

impl fmt::Display for ContentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
