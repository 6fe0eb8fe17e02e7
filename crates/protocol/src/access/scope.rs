//! The scopes of an API key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A scope of an API key. No scope includes another, except that `admin` includes all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read all runs, journals and streams in full.
    Read,
    /// Start runs.
    Start,
    /// Send events, answer questions, create streams and append to them.
    Send,
    /// Control runs (pause, cancel, terminate, fork, edit, delete), delete streams, and subscribe
    /// to them.
    Operate,
    /// Execute the workflows that the key names, as a worker.
    Work,
    /// Everything, including the management of keys.
    Admin,
}

/// The text is not the name of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScope(String);

impl std::error::Error for InvalidScope {}

impl fmt::Display for InvalidScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Scope::ALL.map(Scope::as_str).join(", ");
        write!(f, "there is no scope `{}`; there are: {known}", self.0)
    }
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Start,
        Self::Send,
        Self::Operate,
        Self::Work,
        Self::Admin,
    ];

    /// Its name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Start => "start",
            Self::Send => "send",
            Self::Operate => "operate",
            Self::Work => "work",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| InvalidScope(text.to_owned()))
    }
}
