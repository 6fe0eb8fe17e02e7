//! What a run was created with.

use everstep_model::record::Created;
use everstep_model::{Generation, Name, Payload, RunId, Seed, Timestamp};

use crate::trace::TraceRoot;

/// What a run was created with; never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// The run.
    pub id: RunId,
    /// Its life.
    pub generation: Generation,
    /// Its workflow.
    pub workflow: Name,
    /// The version of the workflow it keeps.
    pub version: u32,
    /// What it was started with.
    pub input: Payload,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
    /// How often the whole function may be retried, where the start says so itself.
    pub execution_retries: Option<u32>,
    /// The life whose idempotency keys its steps have: an earlier one where it goes on with what that began.
    pub keys_of: Generation,
    /// Where it stands in a trace.
    pub trace: TraceRoot,
    pub(super) seed: Seed,
    pub(super) identity: Seed,
}

impl RunFacts {
    pub(super) fn new(
        id: RunId,
        generation: Generation,
        created: &Created,
        created_at: Timestamp,
    ) -> Self {
        let inherited = created.forked_from.as_ref().and_then(|from| from.keys_of);
        Self {
            id,
            generation,
            keys_of: inherited.unwrap_or(generation),
            workflow: created.workflow.clone(),
            version: created.version,
            input: created.input.clone(),
            tags: created.tags.clone(),
            created_at,
            deadline: created.deadline,
            execution_retries: created.execution_retries,
            trace: TraceRoot::new(generation, created.identity(), created.trace),
            seed: created.seed,
            identity: created.identity(),
        }
    }
}
