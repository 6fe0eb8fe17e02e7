//! Keys: `POST /keys`, `GET /keys`, `DELETE /keys/{id}`.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// What a new key is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKey {
    /// Who or what it is for; what it does is written down under this name.
    pub name: String,
    /// What it is good for.
    pub scopes: Vec<Scope>,
    /// The workflows that a worker with it may execute. Only with the scope `work`, and then at least one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
}

/// A key as lists show it: never its secret, which nobody knows but its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// What it is revoked by; also the first part of the key.
    pub id: String,
    /// Who or what it is for.
    pub name: String,
    /// What it is good for.
    pub scopes: Vec<Scope>,
    /// The workflows that a worker with it may execute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
    /// Since when.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub created_at: Timestamp,
    /// Who made it, if somebody with a name did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

/// A key just made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// The key itself. It is shown this once.
    pub key: String,
    /// What it is.
    #[serde(flatten)]
    pub view: KeyView,
}

/// Every key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct KeyList {
    /// The oldest first.
    pub keys: Vec<KeyView>,
}
