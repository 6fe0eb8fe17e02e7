//! Whether and when a failed attempt is retried, computed from the recorded policy.
//!
//! The executor calls this once per failure and records the answer; replay reads the record.

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
    /// An ordinary error. The policy decides when to retry.
    Retryable,
    /// The error, or the step's delay function, sets the delay. The cap of the policy does not
    /// apply.
    RetryAfter(Duration),
    /// An error that is not retried.
    Fatal,
    /// An error that requests a rollback.
    RollBack,
    /// The attempt took longer than the step's timeout.
    TimedOut,
}

/// Returns the delay before retry `retry` (counted from 1), limited by the cap of the policy.
///
/// With [`Backoff::Custom`] the workflow's own function chooses the delay; this returns the base
/// for callers that cannot call it.
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

/// Returns the outcome of a failed attempt of a step, and the time of the next attempt if there is
/// one.
///
/// `failures_before` is the number of recorded failures of the step. An attempt that was lost with
/// its process is not a failure, so takeovers do not use up retries.
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

/// Returns when a workflow function runs again after attempt `attempt` (counted from 1) failed:
/// after 2^attempt seconds, at most an hour. `None` if no retries are left, or if the next attempt
/// would begin after the deadline.
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
