//! Records that create a run and records that end it.

use serde::{Deserialize, Serialize};

use super::ParentLink;
use crate::codec::{enum_codec, records};
use crate::failure::Failure;
use crate::id::{Generation, RunId, Seed};
use crate::link::Link;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::planted::{self, Bug};
use crate::time::Timestamp;
use crate::trace::TraceParent;

records! {
    /// The first record of every journal.
    pub struct Created {
        pub workflow: Name,
        /// The workflow version, fixed for the run.
        pub version: u32,
        /// The input. A later start with the same id does not change it.
        pub input: Payload,
        /// The seed of the run's random numbers.
        pub seed: Seed,
        #[serde(default)]
        pub tags: Vec<String>,
        /// The time by which the run must end.
        pub deadline: Option<Timestamp>,
        /// The number of retries of the whole function, if the start sets it.
        pub execution_retries: Option<u32>,
        /// The idempotency key of the start.
        pub idempotency_key: Option<String>,
        /// The operation that started the run, for a child.
        pub parent: Option<ParentLink>,
    } + {
        /// The author of the start, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<String>,
        /// The journal that this one was copied from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub forked_from: Option<ForkedFrom>,
        /// Replaces the seed in the identity of a copy, because a copy has the seed of its
        /// original.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark: Option<Seed>,
        /// The identity of the parent. `None` if an older release wrote the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent_identity: Option<Seed>,
        /// The span under which the run was started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trace: Option<TraceParent>,
        /// Whether an earlier generation passed the point of no return, which a recovered run
        /// repeats.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_return: bool,
    }
}

impl Created {
    /// Returns a number that distinguishes the run from all other runs with its id. Effects on
    /// other runs carry it.
    #[must_use]
    pub fn identity(&self) -> Seed {
        if planted::is(Bug::NamesakesConfused) {
            return Seed(0);
        }
        self.mark.unwrap_or(self.seed)
    }

    /// Returns the operation of another run that started this one.
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
    /// A failed run continues.
    Recover,
    /// A run begins again, from its start or from one of its operations.
    Restart,
    /// A failed rollback is retried.
    RetryRollback,
    /// Another run begins with a copy.
    Fork,
}
enum_codec!(ForkReason { Recover = 0, Restart = 1, RetryRollback = 2, Fork = 3 });

records! {
    /// The journal from which a new generation or a fork was copied.
    pub struct ForkedFrom {
        pub run: RunId,
        /// The generation that was copied.
        pub generation: Generation,
        pub reason: ForkReason,
        /// The generation of `run` whose idempotency keys the steps keep; `None` if they get new
        /// ones.
        pub keys_of: Option<Generation>,
    } + {
        /// The operation before which the copy ends, if the request named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub at: Option<Location>,
        /// The digest of the edited result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub edited: Option<String>,
    }

    /// The run ended with a result.
    pub struct Completed {
        pub result: Payload,
        /// Steps that were still in flight.
        #[serde(default)]
        pub abandoned: Vec<Location>,
    }

    /// The run ended with an error.
    pub struct Failed {
        pub error: Failure,
        /// Whether completed steps were undone.
        pub rolled_back: bool,
        /// Steps that were still in flight.
        #[serde(default)]
        pub abandoned: Vec<Location>,
    } + {
        /// The operations whose failures caused this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub caused_by: Vec<Location>,
    }

    /// The run ended with an error, and an undo failed too.
    pub struct RollbackFailed {
        /// Why the run failed.
        pub error: Failure,
        /// Why the undo failed.
        pub rollback_error: Failure,
    } + {
        /// Steps that were still in flight.
        #[serde(default)]
        pub abandoned: Vec<Location>,
    }

    /// The run ended because of a cancel request.
    pub struct Cancelled {
        /// The reason given in the request.
        pub reason: Option<String>,
        /// Whether completed steps were undone.
        pub rolled_back: bool,
        /// Steps that were still in flight.
        #[serde(default)]
        pub abandoned: Vec<Location>,
    }
}
