//! Branches: joins, races and switches.

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};
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
enum_codec!(BranchesKind { Join = 0, Race = 1 });

records! {
    /// A join or race began with these branches.
    pub struct BranchesStarted {
        #[serde(rename = "id")]
        pub location: Location,
        pub kind: BranchesKind,
        /// In the order of their declaration.
        pub branches: Vec<Name>,
    }

    /// A branch returned. Its result follows from its own records.
    pub struct BranchCompleted {
        #[serde(rename = "id")]
        pub location: Location,
        pub branch: Name,
    }

    /// A branch failed.
    pub struct BranchFailed {
        #[serde(rename = "id")]
        pub location: Location,
        pub branch: Name,
        pub error: Failure,
    }

    /// A race was won.
    pub struct RaceWon {
        #[serde(rename = "id")]
        pub location: Location,
        pub winner: Name,
    }

    /// A switch chose a branch. The branch has not run yet.
    pub struct SwitchChosen {
        #[serde(rename = "id")]
        pub location: Location,
        pub branch: Name,
    }
}
