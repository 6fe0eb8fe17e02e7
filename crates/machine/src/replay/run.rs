//! The identity of a run and what it was created with.

use everstep_model::record::{Created, TimerPurpose};
use everstep_model::{Entry, Generation, Name, Payload, RunId, Seed, Timestamp};

use super::operations::Obsolete;
use crate::trace::TraceRoot;

/// What a run was created with. It never changes.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "plain data")]
pub struct RunInfo {
    pub id: RunId,
    pub generation: Generation,
    pub workflow: Name,
    /// The version of the workflow that the run was started with and keeps.
    pub version: u32,
    pub input: Payload,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub deadline: Option<Timestamp>,
    /// How often the function is retried, if the start request sets it.
    pub execution_retries: Option<u32>,
    /// The generation that the idempotency keys of steps contain. A generation that continues the
    /// work of an earlier one uses its keys.
    pub keys_of: Generation,
    pub trace: TraceRoot,
    pub(super) seed: Seed,
    pub(super) identity: Seed,
}

/// The run that is executed, and its current pass.
#[derive(Debug)]
pub struct Run {
    pub(super) id: RunId,
    pub(super) generation: Generation,
    /// `None` until `created` is folded.
    pub info: Option<RunInfo>,
    /// The number of the current pass of the function, from 1.
    pub pass: u32,
    /// When the next pass begins, while its timer is set.
    pub(super) retry_at: Option<Timestamp>,
}

impl Run {
    pub(super) fn new(id: RunId, generation: Generation) -> Self {
        Self {
            id,
            generation,
            info: None,
            pass: 1,
            retry_at: None,
        }
    }

    pub(super) fn create(&mut self, created: &Created, entry: &Entry) {
        let inherited = created.forked_from.as_ref().and_then(|from| from.keys_of);
        self.info = Some(RunInfo {
            id: self.id.clone(),
            generation: self.generation,
            keys_of: inherited.unwrap_or(self.generation),
            workflow: created.workflow.clone(),
            version: created.version,
            input: created.input.clone(),
            tags: created.tags.clone(),
            created_at: entry.record.time,
            deadline: created.deadline,
            execution_retries: created.execution_retries,
            trace: TraceRoot::new(self.generation, created.identity(), created.trace),
            seed: created.seed,
            identity: created.identity(),
        });
    }

    /// Returns the rows that the run itself has in the store.
    pub(super) fn rows(&self) -> impl Iterator<Item = Obsolete> {
        let timer = |due, purpose| Obsolete::Timer(due, purpose, None);
        let deadline = self.info.as_ref().and_then(|info| info.deadline);
        let deadline = deadline.map(|due| timer(due, TimerPurpose::Deadline));
        let retry = self.retry_at;
        let retry = retry.map(|due| timer(due, TimerPurpose::ExecutionRetry));
        deadline.into_iter().chain(retry)
    }
}
