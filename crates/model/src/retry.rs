//! How often and when a step is tried again, as it is recorded with the step's first attempt.
//!
//! The arithmetic is in `machine`; recording the policy keeps later changes of code away from steps in flight.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How the delay grows from one retry to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// Always the base.
    Constant,
    /// base · n before retry n.
    Linear,
    /// base · 2^(n−1) before retry n.
    Exponential,
    /// The workflow's own function says; `base` and `cap` are not used.
    Custom,
}

/// How often a step is retried, and how long to wait before each retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Retries after the first attempt.
    pub limit: u32,
    /// How delays grow.
    pub backoff: Backoff,
    /// The first delay.
    #[serde(with = "crate::duration::whole_millis", rename = "baseMs")]
    pub base: Duration,
    /// No delay is longer than this.
    #[serde(with = "crate::duration::whole_millis", rename = "capMs")]
    pub cap: Duration,
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

/// How one step is executed, as resolved from engine, workflow and step settings when it was first called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOptions {
    /// When it is tried again.
    pub retry: RetryPolicy,
    /// How long one attempt may take.
    #[serde(
        with = "crate::duration::optional_millis",
        rename = "timeoutMs",
        default
    )]
    pub timeout: Option<Duration>,
    /// Whether an attempt that timed out is retried like any failure.
    pub retry_timeouts: bool,
    /// Its failure never fails the workflow.
    pub best_effort: bool,
    /// Its result is redacted in every view.
    pub sensitive: bool,
    /// Its result rides along with the next commit.
    pub ephemeral: bool,
    /// Its start is durable before it runs.
    pub fenced: bool,
    /// Whether it can be undone.
    #[serde(default, skip_serializing_if = "UndoMode::is_none")]
    pub undo: UndoMode,
}

/// Whether a step can be undone, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoMode {
    /// It has no undo.
    #[default]
    None,
    /// It is undone when the run rolls back, unless the point of no return was passed.
    Undo,
    /// It is undone even after the point of no return.
    Internal,
}

impl UndoMode {
    /// Whether it has no undo.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}
