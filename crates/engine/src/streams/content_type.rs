//! Content types: kept as they were given, compared by what they mean.

use std::fmt;

/// What the messages of a stream are.
#[derive(Clone, Debug)]
pub struct ContentType(String);

impl ContentType {
    /// As it was given, for instance `application/json; charset=utf-8`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// As it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The type alone, without parameters.
    #[must_use]
    pub fn essence(&self) -> String {
        let essence = self.0.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// Whether its messages are JSON values, kept apart and served as arrays.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.essence() == "application/json"
    }

    /// Whether its messages are text.
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
