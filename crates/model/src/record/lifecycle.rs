//! How a run begins and how it ends.

use serde::{Deserialize, Serialize};

use super::ParentLink;
use crate::codec::{byte_codec, codec};
use crate::failure::Failure;
use crate::id::{Generation, RunId, Seed};
use crate::link::Link;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::planted::{self, Bug};
use crate::time::Timestamp;
use crate::trace::TraceParent;

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
    /// Who started it, as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The journal this one began as a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// What stands for the seed in the identity of a copy, which has the seed of its original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Seed>,
    /// The identity of the run that started it; none if an older release wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_identity: Option<Seed>,
    /// The place in a trace from which it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceParent>,
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
} + { by, forked_from, mark, parent_identity, trace });

impl Created {
    /// What tells the run from every other one that has had, or will have, its id: what it does to other runs is known by
    /// it.
    #[must_use]
    pub fn identity(&self) -> Seed {
        if planted::is(Bug::NamesakesConfused) {
            return Seed(0);
        }
        self.mark.unwrap_or(self.seed)
    }

    /// The operation of another run that started it.
    #[must_use]
    pub fn parent_link(&self) -> Option<Link> {
        let parent = self.parent.clone()?;
        Some(Link {
            run: parent.run,
            generation: parent.generation,
            location: parent.location,
            identity: self.parent_identity,
        })
    }
}

/// Why a journal begins as a copy of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkReason {
    /// A failed run goes on where it failed.
    Recover,
    /// A run begins again, from its start or from one of its operations.
    Restart,
    /// A rollback that failed is tried again.
    RetryRollback,
    /// Another run begins where this one was.
    Fork,
}
byte_codec!(ForkReason { Recover = 0, Restart = 1, RetryRollback = 2, Fork = 3 });

/// The journal that a new generation or a fork began as a copy of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// Whose.
    pub run: RunId,
    /// Which life of it.
    pub generation: Generation,
    /// Why.
    pub reason: ForkReason,
    /// The generation of `run` whose idempotency keys its steps keep; none if they get new ones.
    pub keys_of: Option<Generation>,
    /// The operation before which the copy ends; none if that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Location>,
    /// The digest of the result that this operation was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
}
codec!(
    ForkedFrom {
        run,
        generation,
        reason,
        keys_of
    } + { at, edited }
);

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
    /// The operations whose failures it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caused_by: Vec<Location>,
}
codec!(
    Failed {
        error,
        rolled_back,
        abandoned
    } + { caused_by }
);

/// The run ended with an error, and an undo failed too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackFailed {
    /// Why the run failed.
    pub error: Failure,
    /// Why the undo failed.
    pub rollback_error: Failure,
    /// Steps that were still running.
    #[serde(default)]
    pub abandoned: Vec<Location>,
}
codec!(
    RollbackFailed {
        error,
        rollback_error
    } + { abandoned }
);

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
