//! When a failed attempt is tried again, and when it is not. Pure arithmetic over the recorded policy.
//!
//! The executor calls this once per failure and records the answer; replay reads the record and never asks again.

use std::time::Duration;

use everstep_model::record::FailureOutcome;
use everstep_model::{Backoff, RetryPolicy, StepOptions, Timestamp};

/// Doublings after which even a nanosecond is longer than any `Duration`.
const DOUBLINGS_MAX: u32 = 94;

/// The longest pause between two attempts of a whole run.
const EXECUTION_DELAY_MAX: Duration = Duration::from_secs(3_600);

/// What kind of failure ended an attempt of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// An ordinary error: the policy says when to try again.
    Retryable,
    /// The error itself, or the step's own delay function, says how long to wait. The policy's cap does not apply.
    RetryAfter(Duration),
    /// An error that is not retried.
    Fatal,
    /// An error that asks to stop and roll back.
    RollBack,
    /// The attempt took longer than the step's timeout.
    TimedOut,
}

/// How long to wait before retry `retry` (from 1) under a policy: never longer than its cap.
///
/// A policy with [`Backoff::Custom`] leaves the choice to the workflow's own function; where nobody asked that
/// function, the base stands in.
#[must_use]
pub fn retry_delay(policy: &RetryPolicy, retry: u32) -> Duration {
    let retry = retry.max(1);
    let delay = match policy.backoff {
        Backoff::Constant | Backoff::Custom => policy.base,
        Backoff::Linear => policy.base.saturating_mul(retry),
        Backoff::Exponential => doubled(policy.base, retry - 1),
    };
    delay.min(policy.cap)
}

fn doubled(base: Duration, times: u32) -> Duration {
    (0..times.min(DOUBLINGS_MAX)).fold(base, |delay, _| delay.saturating_mul(2))
}

/// What follows from a failed attempt of a step, and when the next attempt begins if there is one.
///
/// `failures_before` counts the failures recorded for this step until now. An attempt that was lost with its process
/// is no failure, so a takeover never uses up a retry.
#[must_use]
pub fn after_step_failure(
    options: &StepOptions,
    failures_before: u32,
    class: FailureClass,
    now: Timestamp,
) -> (FailureOutcome, Option<Timestamp>) {
    let by_policy = || retry_delay(&options.retry, failures_before.saturating_add(1));
    let (delay, when_used_up) = match class {
        FailureClass::Fatal => return (FailureOutcome::Fatal, None),
        FailureClass::RollBack => return (FailureOutcome::RollBack, None),
        FailureClass::TimedOut if !options.retry_timeouts => {
            return (FailureOutcome::TimedOut, None);
        }
        FailureClass::TimedOut => (by_policy(), FailureOutcome::TimedOut),
        FailureClass::Retryable => (by_policy(), FailureOutcome::Exhausted),
        FailureClass::RetryAfter(delay) => (delay, FailureOutcome::Exhausted),
    };
    if failures_before >= options.retry.limit {
        return (when_used_up, None);
    }
    (FailureOutcome::Retrying, Some(now.after(delay)))
}

/// When a workflow function whose attempt `attempt` (from 1) failed is run again: after 2^attempt seconds, at most an
/// hour. `None` if its retries are used up, or if the next attempt could only begin once the deadline has passed.
#[must_use]
pub fn after_execution_failure(
    attempt: u32,
    retries: u32,
    now: Timestamp,
    deadline: Option<Timestamp>,
) -> Option<Timestamp> {
    if attempt > retries {
        return None;
    }
    let at = now.after(doubled(Duration::from_secs(1), attempt).min(EXECUTION_DELAY_MAX));
    let in_time = deadline.is_none_or(|deadline| at < deadline);
    in_time.then_some(at)
}

#[cfg(test)]
mod tests;
