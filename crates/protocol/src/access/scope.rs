//! The scopes of an API key.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

everstep_model::words! {
    /// A scope of an API key. No scope includes another, except that `admin` includes all.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Scope {
        /// Read all runs, journals and streams in full.
        Read = "read",
        /// Start runs.
        Start = "start",
        /// Send events, answer rpcs, create streams and append to them.
        Send = "send",
        /// Control runs (pause, cancel, terminate, fork, edit, delete), delete streams, and
        /// subscribe to them.
        Operate = "operate",
        /// Execute the workflows that the key names, as a worker.
        Work = "work",
        /// Everything, including the management of keys.
        Admin = "admin",
    }
}

/// The text is not the name of a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; the scopes are: {known}", known = super::list(Scope::ALL))]
pub struct InvalidScope(String);

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        Self::parse(text).ok_or_else(|| InvalidScope(text.to_owned()))
    }
}
