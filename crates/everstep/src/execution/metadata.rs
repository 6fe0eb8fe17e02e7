//! The constants of a run that its code can read.

use everstep_model::{Generation, Name, RunId, Timestamp};

/// The constants of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct RunMetadata {
    pub id: RunId,
    pub generation: Generation,
    pub workflow: Name,
    /// The version of the workflow that the run follows.
    pub version: u32,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub deadline: Option<Timestamp>,
    /// The number of the pass, from 1. An execution retry begins the next pass.
    pub attempt: u32,
}
