//! Violations of invariants.

use std::fmt;
use std::panic::Location;
use std::path::Path;

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The number of the invariant in `docs/invariants.md`.
    pub invariant: u8,
    /// The name of the file that noticed it.
    pub check: &'static str,
    /// What was observed.
    pub what: String,
}

impl Violation {
    /// Creates a violation of the invariant with this number, noticed by the calling file.
    #[track_caller]
    pub fn of(invariant: u8, what: impl Into<String>) -> Self {
        let file = Path::new(Location::caller().file()).file_stem();
        Self {
            invariant,
            check: file.and_then(|name| name.to_str()).unwrap_or_default(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {}: {}", self.invariant, self.what)
    }
}
