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
    pub workflow: Name,
    /// The version of new runs.
    pub newest: u32,
    /// The lowest and the highest version that a worker offers; `null` if no worker offers the
    /// workflow now.
    pub offered: Option<(u32, u32)>,
    /// The schemas of the workflow, if a worker has registered them.
    pub description: Option<Description>,
}

/// All workflows that can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TypePage {
    /// Sorted by name.
    pub types: Vec<TypeView>,
}
