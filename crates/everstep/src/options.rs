//! How steps and runs behave, set for an engine, a workflow or a single step, in that order.

use std::time::Duration;

use everstep_model::{Backoff, RetryPolicy};

use crate::error::Error;

/// How often and when a step is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry(RetryPolicy);

/// No delay between attempts is longer than this, unless said otherwise.
const MAX_DELAY: Duration = Duration::from_secs(30);

impl Retry {
    /// No retries: one attempt.
    #[must_use]
    pub const fn none() -> Self {
        Self(RetryPolicy::NONE)
    }

    /// `limit` retries, each after `delay`.
    #[must_use]
    pub const fn constant(limit: u32, delay: Duration) -> Self {
        Self::with(limit, delay, Backoff::Constant)
    }

    /// `limit` retries, the n-th after `base · n`.
    #[must_use]
    pub const fn linear(limit: u32, base: Duration) -> Self {
        Self::with(limit, base, Backoff::Linear)
    }

    /// `limit` retries, the n-th after `base · 2^(n−1)`.
    #[must_use]
    pub const fn exponential(limit: u32, base: Duration) -> Self {
        Self::with(limit, base, Backoff::Exponential)
    }

    const fn with(limit: u32, base: Duration, backoff: Backoff) -> Self {
        let cap = if base.as_millis() > MAX_DELAY.as_millis() {
            base
        } else {
            MAX_DELAY
        };
        Self(RetryPolicy {
            limit,
            backoff,
            base,
            cap,
        })
    }

    /// The same, with no delay longer than this (30 s unless said otherwise).
    #[must_use]
    pub const fn max_delay(mut self, cap: Duration) -> Self {
        self.0.cap = cap;
        self
    }

    pub(crate) fn policy(self) -> RetryPolicy {
        RetryPolicy {
            base: whole_millis(self.0.base),
            cap: whole_millis(self.0.cap),
            ..self.0
        }
    }
}

/// Journals keep milliseconds; a shorter wish becomes one of them, so that hot and replayed runs see the same.
pub(crate) fn whole_millis(duration: Duration) -> Duration {
    let whole = duration.as_secs().saturating_mul(1_000);
    let rest = duration.subsec_nanos().div_ceil(1_000_000);
    Duration::from_millis(whole.saturating_add(rest.into()))
}

impl Default for Retry {
    /// Three retries, exponential from one second, at most thirty.
    fn default() -> Self {
        Self(RetryPolicy::default())
    }
}

/// Defaults of an engine or a workflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub(crate) retry: Option<Retry>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry_timeouts: Option<bool>,
    pub(crate) execution_retries: Option<u32>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) steps_max: Option<u32>,
}

impl Options {
    /// Nothing set: what stands above it applies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How steps are retried.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// How long an attempt of a step may take. Taking longer is final, unless timeouts are retried.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Treat an attempt that took too long like any other failure.
    #[must_use]
    pub fn retry_timeouts(mut self, retry: bool) -> Self {
        self.retry_timeouts = Some(retry);
        self
    }

    /// How often the whole function is run again when it fails; completed operations keep their results.
    #[must_use]
    pub fn execution_retries(mut self, retries: u32) -> Self {
        self.execution_retries = Some(retries);
        self
    }

    /// How long a run may take, counted from its creation.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How many steps a run may call; any number unless said. The one after the last fails with the code `too_many_steps`, and so
    /// does the run. Iterations of [`crate::Ctx::repeat`] that have ended do not count, so that a loop may go on for ever.
    #[must_use]
    pub fn steps_max(mut self, steps: u32) -> Self {
        self.steps_max = Some(steps);
        self
    }

    /// These options, and those of `base` where these say nothing.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            retry: self.retry.or(base.retry),
            timeout: self.timeout.or(base.timeout),
            retry_timeouts: self.retry_timeouts.or(base.retry_timeouts),
            execution_retries: self.execution_retries.or(base.execution_retries),
            deadline: self.deadline.or(base.deadline),
            steps_max: self.steps_max.or(base.steps_max),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(invalid(
                "a step's timeout must be longer than zero; leave it out for none",
            ));
        }
        if self.deadline.is_some_and(|deadline| deadline.is_zero()) {
            return Err(invalid(
                "a deadline must be longer than zero; leave it out for none",
            ));
        }
        Ok(())
    }
}

pub(crate) fn invalid(message: &str) -> Error {
    let failure = everstep_model::Failure::new(everstep_model::ErrorCode::InvalidOptions, message);
    Error::from_failure(failure).non_retryable()
}
