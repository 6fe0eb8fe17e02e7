//! Retry policies and step options, as recorded with the first attempt of a step.
//!
//! `machine` computes the delays. The policy is recorded so that code changes do not affect steps
//! in flight.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};

/// An attempt without a timeout that runs for longer is reported in the log and in the reasons of
/// its run.
pub const LONG_ATTEMPT: Duration = Duration::from_secs(60);

/// How the delay grows with each retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// Always the base.
    Constant,
    /// base · n before retry n.
    Linear,
    /// base · 2^(n−1) before retry n.
    Exponential,
    /// A function of the workflow; `base` and `cap` are not used.
    Custom,
}
enum_codec!(Backoff { Constant = 0, Linear = 1, Exponential = 2, Custom = 3 });

records! {
    /// How often a step is retried, and how long to wait before each retry.
    #[derive(Copy, Eq, Hash)]
    #[allow(missing_docs, reason = "most fields are explained by their names")]
    pub struct RetryPolicy {
        /// The number of retries after the first attempt.
        pub limit: u32,
        pub backoff: Backoff,
        /// The first delay.
        #[serde(with = "crate::duration::whole_millis", rename = "baseMs")]
        pub base: Duration,
        /// The maximum delay.
        #[serde(with = "crate::duration::whole_millis", rename = "capMs")]
        pub cap: Duration,
    }
}

impl RetryPolicy {
    /// No retries.
    pub const NONE: Self = Self {
        limit: 0,
        backoff: Backoff::Constant,
        base: Duration::ZERO,
        cap: Duration::ZERO,
    };
}

impl Default for RetryPolicy {
    /// Three retries, exponential from one second, at most thirty.
    fn default() -> Self {
        Self {
            limit: 3,
            backoff: Backoff::Exponential,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
        }
    }
}

records! {
    /// The options of a step, resolved from engine, workflow and step settings when it was first
    /// called.
    #[derive(Copy, Default, Eq, Hash)]
    #[allow(missing_docs, reason = "most fields are explained by their names")]
    pub struct StepOptions {
        pub retry: RetryPolicy,
        /// The timeout of one attempt.
        #[serde(with = "crate::duration::optional_millis", rename = "timeoutMs", default)]
        pub timeout: Option<Duration>,
        /// Whether a timeout is retried like other failures.
        pub retry_timeouts: bool,
        /// Whether the workflow continues if the step fails.
        pub best_effort: bool,
        /// Whether every view redacts the result.
        pub sensitive: bool,
        /// Whether the result is written with the next commit instead of its own.
        pub ephemeral: bool,
        /// Whether the start is durable before the step runs.
        pub fenced: bool,
    } + {
        #[serde(default, skip_serializing_if = "UndoMode::is_none")]
        pub undo: UndoMode,
        /// Whether the run passes its point of no return when the step completes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_return: bool,
    }
}

impl StepOptions {
    /// Returns whether the start of each attempt is durable before its work begins. Requests to end
    /// the run wait for a step that is the point of no return, so the journal must show that it has
    /// begun.
    #[must_use]
    pub fn starts_durably(&self) -> bool {
        self.fenced || self.no_return
    }
}

/// Whether a step can be undone, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "`None` needs no explanation")]
pub enum UndoMode {
    #[default]
    None,
    /// Undone by a rollback, unless the point of no return was passed.
    Undo,
    /// Undone by a rollback even after the point of no return.
    Internal,
}
enum_codec!(UndoMode { None = 0, Undo = 1, Internal = 2 });

impl UndoMode {
    /// Whether the step has no undo.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}
