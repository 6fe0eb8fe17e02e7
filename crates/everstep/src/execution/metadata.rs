//! The constants of a run that its code can read.

use everstep_model::{Generation, Name, RunId, Timestamp};

/// What a run knows about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMetadata {
    /// The run.
    pub id: RunId,
    /// Its life.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
    /// Which pass of the function this is, from 1; higher after an execution retry.
    pub attempt: u32,
}
