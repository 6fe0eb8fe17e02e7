//! The list of runs: one row per run, newest first, with filters by workflow, status, tag and time.

#![allow(missing_docs, reason = "plain data")]

use std::fmt;
use std::str::FromStr;

use everstep_model::{Generation, Name, RunId, RunStatus, StreamNumber, Timestamp};

/// The list row of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub generation: Generation,
    pub workflow: Name,
    /// The version of the workflow that the run keeps.
    pub version: u32,
    pub status: RunStatus,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    /// The time of the last change of status.
    pub updated_at: Timestamp,
}

/// Which runs to list. An empty filter matches all runs; otherwise one of its values must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    pub workflows: Vec<Name>,
    /// The beginnings of ids.
    pub id_prefixes: Vec<String>,
    pub statuses: Vec<RunStatus>,
    pub tag: Option<String>,
    /// Inclusive.
    pub created_from: Option<Timestamp>,
    /// Exclusive.
    pub created_before: Option<Timestamp>,
    /// The maximum number of rows. A page may have fewer or none although the list goes on: a
    /// store may compare a bounded number of runs with the filters for each page.
    pub limit: usize,
    /// Continues after this position.
    pub cursor: Option<Cursor>,
}

impl ListQuery {
    /// Returns whether a row passes the filters. Ignores the cursor.
    #[must_use]
    pub fn matches(&self, row: &RunRow) -> bool {
        let starts = |prefix: &String| row.id.as_str().starts_with(prefix.as_str());
        (self.workflows.is_empty() || self.workflows.contains(&row.workflow))
            && (self.id_prefixes.is_empty() || self.id_prefixes.iter().any(starts))
            && (self.statuses.is_empty() || self.statuses.contains(&row.status))
            && self.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
            && self.created_from.is_none_or(|from| row.created_at >= from)
            && self
                .created_before
                .is_none_or(|before| row.created_at < before)
    }
}

/// A position in a list, newest first: the runs before this stream follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub StreamNumber);

/// A text is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid cursor; start the list again without a cursor")]
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
        // Accepts only the canonical form: no sign, no leading zeros, no capitals.
        (cursor.to_string() == text)
            .then_some(cursor)
            .ok_or(InvalidCursor)
    }
}

/// A number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub number: u64,
    /// Whether the number is exact. Backends may estimate numbers that are costly to count.
    pub exact: bool,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// Newest first (by stream number).
    pub rows: Vec<RunRow>,
    /// Where the list continues. `None` at its end.
    pub next: Option<Cursor>,
}
