//! How a run begins and how it ends.

use serde::{Deserialize, Serialize};

use super::ParentLink;
use crate::codec::codec;
use crate::failure::Failure;
use crate::id::Seed;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::time::Timestamp;

/// The first record of every journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// The workflow.
    pub workflow: Name,
    /// The version of the workflow's code this run keeps.
    pub version: u32,
    /// What the run was started with; a later start of the same id does not change it.
    pub input: Payload,
    /// Where its random numbers begin.
    pub seed: Seed,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The run fails when this passes.
    pub deadline: Option<Timestamp>,
    /// How often the whole function may be retried, where the start says so itself.
    pub execution_retries: Option<u32>,
    /// The idempotency key of the start.
    pub idempotency_key: Option<String>,
    /// The run that started it.
    pub parent: Option<ParentLink>,
}
codec!(Created {
    workflow,
    version,
    input,
    seed,
    tags,
    deadline,
    execution_retries,
    idempotency_key,
    parent
});

/// The run ended with a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// What the workflow returned.
    pub result: Payload,
    /// Steps that were still running.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(Completed { result, abandoned });

/// The run ended with an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failed {
    /// Why.
    pub error: Failure,
    /// Whether completed steps were undone.
    pub rolled_back: bool,
    /// Steps that were still running.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(Failed {
    error,
    rolled_back,
    abandoned
});

/// The run ended with an error, and an undo failed too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackFailed {
    /// Why the run failed.
    pub error: Failure,
    /// Why the undo failed.
    pub rollback_error: Failure,
}
codec!(RollbackFailed {
    error,
    rollback_error
});

/// The run ended because somebody asked it to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// What the request said.
    pub reason: Option<String>,
    /// Whether completed steps were undone.
    pub rolled_back: bool,
    /// Steps that were still running.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(Cancelled {
    reason,
    rolled_back,
    abandoned
});
