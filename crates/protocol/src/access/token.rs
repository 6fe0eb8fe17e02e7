//! Run tokens: `POST /tokens`.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::view::View;

/// A request to create a run token. The caller must have all permissions that the token grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MintToken {
    /// The run that the token gives access to, in its current generation.
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
