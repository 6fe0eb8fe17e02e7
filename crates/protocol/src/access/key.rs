//! API keys: `POST /keys`, `GET /keys`, `DELETE /keys/{id}`.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// A request to create an API key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKey {
    /// Name of the key's owner. Requests with the key are recorded under this name.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<Scope>,
    /// The workflows whose runs the key reaches, and that a worker with this key may execute.
    /// Required for the scope `work`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// How the ids of the runs that the key reaches begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// How the paths of the streams that the key reaches begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
    /// Further workflows whose runs may be started, awaited and sent events by the runs that a
    /// worker with this key executes. Allowed only with the scope `work`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<String>,
}

impl CreateKey {
    /// Creates a request for a key without limits.
    #[must_use]
    pub fn new(name: impl Into<String>, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self {
            name: name.into(),
            scopes: scopes.into_iter().collect(),
            workflows: Vec::new(),
            runs: Vec::new(),
            streams: Vec::new(),
            reaches: Vec::new(),
        }
    }
}

/// A key in a list. It never contains the secret, which only its holder knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// The ID to revoke the key by, which is also the first part of the key.
    pub id: String,
    /// Name of the key's owner.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<Scope>,
    /// The workflows whose runs the key reaches, and that a worker with this key may execute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// How the ids of the runs that the key reaches begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// How the paths of the streams that the key reaches begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
    /// Further workflows whose runs may be started, awaited and sent events by the runs that a
    /// worker with this key executes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<String>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// The name of the key that created it, if it was created with a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

/// A newly created key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// The key itself. It is returned only once.
    pub key: String,
    /// The key without its secret.
    #[serde(flatten)]
    pub view: KeyView,
}

/// All keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeyList {
    /// Sorted by age, oldest first.
    pub keys: Vec<KeyView>,
}
