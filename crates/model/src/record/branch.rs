//! Branches: joins, races and switches.

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::failure::Failure;
use crate::location::Location;
use crate::name::Name;

/// What a set of branches is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchesKind {
    /// All of them count.
    Join,
    /// The first success counts.
    Race,
}
byte_codec!(BranchesKind { Join = 0, Race = 1 });

/// A join or race began with these branches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchesStarted {
    /// The join or race.
    #[serde(rename = "id")]
    pub location: Location,
    /// Which of the two.
    pub kind: BranchesKind,
    /// Its branches, in order.
    pub branches: Vec<Name>,
}
codec!(BranchesStarted {
    location,
    kind,
    branches
});

/// A branch returned. What it returned follows from its own records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchCompleted {
    /// The join or race.
    #[serde(rename = "id")]
    pub location: Location,
    /// The branch.
    pub branch: Name,
}
codec!(BranchCompleted { location, branch });

/// A branch failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchFailed {
    /// The join or race.
    #[serde(rename = "id")]
    pub location: Location,
    /// The branch.
    pub branch: Name,
    /// Why.
    pub error: Failure,
}
codec!(BranchFailed {
    location,
    branch,
    error
});

/// A race has its winner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RaceWon {
    /// The race.
    #[serde(rename = "id")]
    pub location: Location,
    /// The first branch that succeeded.
    pub winner: Name,
}
codec!(RaceWon { location, winner });

/// A switch chose its branch, before running it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SwitchChosen {
    /// The switch.
    #[serde(rename = "id")]
    pub location: Location,
    /// The branch.
    pub branch: Name,
}
codec!(SwitchChosen { location, branch });
