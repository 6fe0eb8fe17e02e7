//! The list of runs: one row each, found by workflow, status, tag and time, newest first.

use std::fmt;
use std::str::FromStr;

use everstep_model::{Generation, Name, RunId, RunStatus, StreamNumber, Timestamp};

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub id: RunId,
    /// Increases with every revival.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// The current status.
    pub status: RunStatus,
    /// Tags that lists can filter by.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its status changed last.
    pub updated_at: Timestamp,
}

/// Which runs to list. Empty filters match everything; within one filter any value matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Only these workflows.
    pub workflows: Vec<Name>,
    /// Only these statuses.
    pub statuses: Vec<RunStatus>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs created at or after this time.
    pub created_from: Option<Timestamp>,
    /// Only runs created before this time.
    pub created_before: Option<Timestamp>,
    /// At most this many; a store may return fewer only at the end of the list.
    pub limit: usize,
    /// Continues after this position.
    pub cursor: Option<Cursor>,
}

impl ListQuery {
    /// Whether a row passes the filters. Ignores the cursor.
    #[must_use]
    pub fn matches(&self, row: &RunRow) -> bool {
        (self.workflows.is_empty() || self.workflows.contains(&row.workflow))
            && (self.statuses.is_empty() || self.statuses.contains(&row.status))
            && self.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
            && self.created_from.is_none_or(|from| row.created_at >= from)
            && self
                .created_before
                .is_none_or(|before| row.created_at < before)
    }
}

/// A position in a list: the runs before this stream, newest first, follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub StreamNumber);

/// The text is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one that a list returned; start the list again without it")]
pub struct InvalidCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{:x}", self.0.0)
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;
    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let digits = text.strip_prefix('c').ok_or(InvalidCursor)?;
        let number = u64::from_str_radix(digits, 16).map_err(|_| InvalidCursor)?;
        let cursor = Self(StreamNumber(number));
        // Only the canonical form: no sign, no leading zeros, no capitals.
        match cursor.to_string() == text {
            true => Ok(cursor),
            false => Err(InvalidCursor),
        }
    }
}

/// A number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many runs match, or an estimate.
    pub number: u64,
    /// Whether the number was counted. Backends may estimate large numbers.
    pub exact: bool,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The rows, newest first (by stream number).
    pub rows: Vec<RunRow>,
    /// The position of the next page; `None` at the end.
    pub next: Option<Cursor>,
}
