//! Branches: joins, races and switches.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::failure::Failure;
use crate::location::Location;
use crate::name::Name;

/// The kind of a set of branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchesKind {
    /// All branches must succeed.
    Join,
    /// The first branch that succeeds wins.
    Race,
}
byte_codec!(BranchesKind { Join = 0, Race = 1 });

/// A join or race began with these branches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchesStarted {
    #[serde(rename = "id")]
    pub location: Location,
    pub kind: BranchesKind,
    /// In the order of their declaration.
    pub branches: Vec<Name>,
}
codec!(BranchesStarted {
    location,
    kind,
    branches
});

/// A branch returned. Its result follows from its own records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchCompleted {
    #[serde(rename = "id")]
    pub location: Location,
    pub branch: Name,
}
codec!(BranchCompleted { location, branch });

/// A branch failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchFailed {
    #[serde(rename = "id")]
    pub location: Location,
    pub branch: Name,
    pub error: Failure,
}
codec!(BranchFailed {
    location,
    branch,
    error
});

/// A race was won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RaceWon {
    #[serde(rename = "id")]
    pub location: Location,
    pub winner: Name,
}
codec!(RaceWon { location, winner });

/// A switch chose a branch. The branch has not run yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SwitchChosen {
    #[serde(rename = "id")]
    pub location: Location,
    pub branch: Name,
}
codec!(SwitchChosen { location, branch });
