//! The paths of streams: which are valid, and which are reserved.

use std::fmt;
use std::sync::Arc;

use everstep_model::StreamName;

const PATH_BYTES_MAX: usize = 1_000;
/// Journals and documents of the server are served there. Users cannot change them.
const RESERVED: [&str; 2] = ["workflows", "__ds"];

/// The path of a stream: 1 to 1,000 bytes without control characters, in segments that are neither
/// empty nor `.` nor `..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamPath(Arc<str>);

/// An invalid path of a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// The path breaks a rule.
    #[error("invalid stream path: {0}")]
    Rule(&'static str),
    /// The path is reserved.
    #[error("stream paths under `{0}/` belong to the engine")]
    Reserved(&'static str),
}

impl StreamPath {
    /// Checks a path that users can create, append to and delete.
    pub fn new(text: &str) -> Result<Self, InvalidPath> {
        let path = Self::internal(text)?;
        match reserved(text) {
            Some(reserved) => Err(InvalidPath::Reserved(reserved)),
            None => Ok(path),
        }
    }

    /// Returns whether a path, valid or not, belongs to the engine.
    #[must_use]
    pub fn is_reserved(text: &str) -> bool {
        reserved(text).is_some()
    }

    /// Checks a path that may be reserved.
    pub fn internal(text: &str) -> Result<Self, InvalidPath> {
        let rule = |reason| Err(InvalidPath::Rule(reason));
        if text.is_empty() {
            return rule("it is empty");
        }
        if text.len() > PATH_BYTES_MAX {
            return rule("it is longer than 1,000 bytes");
        }
        if text.chars().any(char::is_control) {
            return rule("it has a control character");
        }
        if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return rule("a segment is empty, `.` or `..`");
        }
        Ok(Self(text.into()))
    }

    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn name(&self) -> StreamName {
        StreamName::of_user(&self.0)
    }
}

/// Returns the first segment of a path if it is reserved.
fn reserved(text: &str) -> Option<&'static str> {
    let first = text.split('/').next().unwrap_or_default();
    RESERVED.into_iter().find(|reserved| *reserved == first)
}

impl fmt::Display for StreamPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
