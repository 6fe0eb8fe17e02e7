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
    /// The workflows that a worker with this key may execute. Required for the scope `work`, and
    /// allowed only with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// Further workflows whose runs may be started, awaited and sent events by the runs that a worker
    /// with this key executes. Allowed only with the scope `work`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reaches: Vec<String>,
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
    /// The workflows that a worker with this key may execute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// Further workflows whose runs may be started, awaited and sent events by the runs that a worker
    /// with this key executes.
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
