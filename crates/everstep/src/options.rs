//! Options of steps and runs. Those of a step override those of its workflow, which override those
//! of the engine.

use std::time::Duration;

use everstep_model::{Backoff, ErrorCode, RetryPolicy};

use crate::error::Error;

/// The retry policy of a step.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry(RetryPolicy);

/// Default of [`Retry::max_delay`].
const MAX_DELAY: Duration = Duration::from_secs(30);

impl Retry {
    /// Never retries.
    pub const fn none() -> Self {
        Self(RetryPolicy::NONE)
    }

    /// Retries up to `limit` times, each after `delay`.
    pub const fn constant(limit: u32, delay: Duration) -> Self {
        Self::with(limit, delay, Backoff::Constant)
    }

    /// Retries up to `limit` times, the n-th time after `base · n`.
    pub const fn linear(limit: u32, base: Duration) -> Self {
        Self::with(limit, base, Backoff::Linear)
    }

    /// Retries up to `limit` times, the n-th time after `base · 2^(n−1)`.
    pub const fn exponential(limit: u32, base: Duration) -> Self {
        Self::with(limit, base, Backoff::Exponential)
    }

    const fn with(limit: u32, base: Duration, backoff: Backoff) -> Self {
        let is_long = base.as_millis() > MAX_DELAY.as_millis();
        let cap = if is_long { base } else { MAX_DELAY };
        Self(RetryPolicy {
            limit,
            backoff,
            base,
            cap,
        })
    }

    /// Limits the delay. The default is 30 s.
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

/// Rounds up to milliseconds, which journals store, so that hot and replayed runs see the same
/// duration.
pub(crate) fn whole_millis(duration: Duration) -> Duration {
    let whole = duration.as_secs().saturating_mul(1_000);
    let rest = duration.subsec_nanos().div_ceil(1_000_000);
    Duration::from_millis(whole.saturating_add(rest.into()))
}

impl Default for Retry {
    /// Three retries with exponential delays from 1 s up to 30 s.
    fn default() -> Self {
        Self(RetryPolicy::default())
    }
}

/// Defaults of an engine or a workflow.
#[must_use]
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
    /// Creates options in which nothing is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the retry policy of steps.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Limits the duration of an attempt of a step. A timeout is final, unless timeouts are
    /// retried.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets whether timeouts are retried like other failures.
    pub fn retry_timeouts(mut self, retry: bool) -> Self {
        self.retry_timeouts = Some(retry);
        self
    }

    /// Sets how often the whole function is retried if it fails. Completed operations keep their
    /// results.
    pub fn execution_retries(mut self, retries: u32) -> Self {
        self.execution_retries = Some(retries);
        self
    }

    /// Limits the duration of a run, counted from its creation.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Limits the number of steps that a run may call. The next step fails with the code
    /// `too_many_steps`, and so does the run. Iterations of [`crate::Ctx::repeat`] that have ended
    /// do not count, so a loop may be endless.
    pub fn steps_max(mut self, steps: u32) -> Self {
        self.steps_max = Some(steps);
        self
    }

    /// Returns these options, with those of `base` where these are not set.
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
        let is_zero = |limit: Option<Duration>| limit.is_some_and(|limit| limit.is_zero());
        if is_zero(self.timeout) {
            return Err(invalid(
                "a step's timeout must be longer than zero; leave it out for none",
            ));
        }
        if is_zero(self.deadline) {
            return Err(invalid(
                "a deadline must be longer than zero; leave it out for none",
            ));
        }
        Ok(())
    }
}

pub(crate) fn invalid(message: &str) -> Error {
    Error::permanent(ErrorCode::InvalidOptions, message)
}
