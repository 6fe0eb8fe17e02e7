//! Tokens for browsers: `POST /tokens` for a run, `POST /tokens/streams` for streams.

use std::str::FromStr;

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::view::View;

/// A request to create a run token. The caller must have all permissions that the token grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MintToken {
    /// The run that the token gives access to, from its current generation on.
    pub run: String,
    /// The view that the token gives access to.
    #[serde(default = "client")]
    pub view: View,
    /// The methods of the rpcs that the token allows to answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpcs: Vec<String>,
    /// The events that the token allows to send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// The person or program that gets the token. Journals record its actions under this name
    /// instead of the name of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Lifetime, such as `10m`; by default the maximum that the server allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<String>,
}

/// Returns the default view, which is meant for browsers.
fn client() -> View {
    View::Client
}

/// A newly created run token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MintedToken {
    /// The token for the header `Authorization: Bearer`. Never put it into a URL.
    pub token: String,
    /// The run that the token gives access to.
    pub run: String,
    /// The generation of the run.
    pub generation: u32,
    /// The path of the run's journal, relative to the URL of the server.
    pub stream: String,
    /// When the token expires.
    pub expires_at: Timestamp,
}

everstep_model::words! {
    /// What a stream token allows.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum StreamRight {
        /// Read and follow the streams.
        Read = "read",
        /// Append to the streams.
        Append = "append",
    }
}

/// The text is not the name of a right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown right `{0}`; the rights are: {known}", known = super::list(StreamRight::ALL))]
pub struct InvalidStreamRight(String);

impl FromStr for StreamRight {
    type Err = InvalidStreamRight;

    fn from_str(text: &str) -> Result<Self, InvalidStreamRight> {
        Self::parse(text).ok_or_else(|| InvalidStreamRight(text.to_owned()))
    }
}

/// A request to create a token for streams. It names either `stream` or `prefix`. The caller must
/// have all permissions that the token grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MintStreamToken {
    /// The path of the only stream that the token gives access to, such as `chat/7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// How the paths of the streams begin that the token gives access to, such as `chat/ada/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// What the token allows; by default `read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allows: Vec<StreamRight>,
    /// Lifetime, such as `10m`; by default the maximum that the server allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<String>,
}

/// A newly created token for streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MintedStreamToken {
    /// The token for the header `Authorization: Bearer`. Never put it into a URL.
    pub token: String,
    /// The path of the stream, or how the paths of the streams begin, relative to the URL of the
    /// server.
    pub stream: String,
    /// When the token expires.
    pub expires_at: Timestamp,
}
