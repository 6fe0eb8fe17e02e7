//! `GET /types`: the workflows that are offered.

use everstep_model::Name;
use serde::{Deserialize, Serialize};

/// A workflow that somebody offers to execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeView {
    /// Its name.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The oldest version that can be executed.
    pub oldest: u32,
    /// The newest, which new runs get.
    pub newest: u32,
}

/// Every workflow that is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypePage {
    /// The workflows, by name.
    pub types: Vec<TypeView>,
}
