//! Run tokens: `POST /tokens`.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::view::View;

/// What a new run token is to allow. Whoever asks must be allowed all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MintToken {
    /// The one run it is good for, in the generation it has now.
    pub run: String,
    /// The one view its holder may read.
    #[serde(default = "client")]
    pub view: View,
    /// The methods of rpcs its holder may answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpcs: Vec<String>,
    /// The events its holder may send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// How long it is good, such as `10m`; as long as the server allows if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<String>,
}

/// Who asks for no view gets the one that was made for browsers.
fn client() -> View {
    View::Client
}

/// A run token just made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MintedToken {
    /// The token, for the header `Authorization: Bearer`, never for an address.
    pub token: String,
    /// The run it is good for.
    pub run: String,
    /// Its generation.
    pub generation: u32,
    /// Where the run's journal is, below the address of the server.
    pub stream: String,
    /// When it ends.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub expires_at: Timestamp,
}
