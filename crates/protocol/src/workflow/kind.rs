//! `GET /types`: the workflows that can be started.

use everstep_model::{Description, Name};
use serde::{Deserialize, Serialize};

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypeView {
    /// Its name.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The version that new runs get.
    pub newest: u32,
    /// The oldest and the newest version that somebody offers to execute; `null` if nobody does now.
    pub offered: Option<(u32, u32)>,
    /// The schemas of its input, result, events and questions, where a worker told of them.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<crate::schema::DescriptionShape>")
    )]
    pub description: Option<Description>,
}

/// Every workflow that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypePage {
    /// The workflows, by name.
    pub types: Vec<TypeView>,
}
