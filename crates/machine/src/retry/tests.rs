//! Claims about delays, limits and deadlines of retries.

use everstep_model::secs;
use proptest::prelude::*;

use super::*;

fn now() -> Timestamp {
    Timestamp::from_millis(1_794_729_600_000)
}

fn policy(limit: u32, backoff: Backoff, base: u64, cap: u64) -> RetryPolicy {
    RetryPolicy {
        limit,
        backoff,
        base: secs(base),
        cap: secs(cap),
    }
}

fn step(limit: u32, retry_timeouts: bool) -> StepOptions {
    StepOptions {
        retry: policy(limit, Backoff::Exponential, 1, 30),
        retry_timeouts,
        ..StepOptions::default()
    }
}

fn any_backoff() -> impl Strategy<Value = Backoff> {
    prop_oneof![
        Just(Backoff::Constant),
        Just(Backoff::Linear),
        Just(Backoff::Exponential),
        Just(Backoff::Custom),
    ]
}

fn any_duration() -> impl Strategy<Value = Duration> {
    let edges = prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(1)),
        Just(Duration::MAX)
    ];
    prop_oneof![
        edges,
        (any::<u64>(), 0u32..1_000_000_000).prop_map(|(s, n)| Duration::new(s, n)),
        (0u64..100_000).prop_map(Duration::from_millis),
    ]
}

fn any_class() -> impl Strategy<Value = FailureClass> {
    prop_oneof![
        Just(FailureClass::Retryable),
        any_duration().prop_map(FailureClass::RetryAfter),
        Just(FailureClass::Fatal),
        Just(FailureClass::RollBack),
        Just(FailureClass::TimedOut),
    ]
}

fn any_options() -> impl Strategy<Value = StepOptions> {
    let policy = (0u32..6, any_backoff(), any_duration(), any_duration());
    (policy, any::<bool>()).prop_map(
        |((limit, backoff, base, cap), retry_timeouts)| StepOptions {
            retry: RetryPolicy {
                limit,
                backoff,
                base,
                cap,
            },
            retry_timeouts,
            ..StepOptions::default()
        },
    )
}

proptest! {
    // B199
    #[test]
    fn no_delay_passes_the_cap(options in any_options(), retry in any::<u32>()) {
        prop_assert!(retry_delay(&options.retry, retry) <= options.retry.cap);
    }

    #[test]
    fn delays_never_shrink_from_one_retry_to_the_next(options in any_options(), retry in 0u32..u32::MAX) {
        prop_assert!(retry_delay(&options.retry, retry) <= retry_delay(&options.retry, retry + 1));
    }

    #[test]
    fn there_is_a_next_attempt_exactly_while_retrying(
        options in any_options(), before in 0u32..8, class in any_class(),
    ) {
        let (outcome, at) = after_step_failure(&options, before, class, now());
        prop_assert_eq!(outcome == FailureOutcome::Retrying, at.is_some());
        prop_assert!(at.is_none_or(|at| at >= now()));
        prop_assert!(at.is_none() || before < options.retry.limit);
    }

    // B25
    #[test]
    fn a_limit_of_n_gives_n_plus_one_executions(options in any_options(), delay in any_duration()) {
        for class in [FailureClass::Retryable, FailureClass::RetryAfter(delay)] {
            let executions = (0..)
                .take_while(|&before| after_step_failure(&options, before, class, now()).1.is_some())
                .count() + 1;
            prop_assert_eq!(executions, options.retry.limit as usize + 1);
            let last = after_step_failure(&options, options.retry.limit, class, now());
            prop_assert_eq!(last, (FailureOutcome::Exhausted, None));
        }
    }

    // B29
    #[test]
    fn fatal_errors_and_rollbacks_are_never_retried(options in any_options(), before in any::<u32>()) {
        prop_assert_eq!(
            after_step_failure(&options, before, FailureClass::Fatal, now()),
            (FailureOutcome::Fatal, None)
        );
        prop_assert_eq!(
            after_step_failure(&options, before, FailureClass::RollBack, now()),
            (FailureOutcome::RollBack, None)
        );
    }

    // B34, B35
    #[test]
    fn a_timeout_ends_as_a_timeout_whether_it_was_retried_or_not(options in any_options(), before in 0u32..8) {
        let (outcome, _) = after_step_failure(&options, before, FailureClass::TimedOut, now());
        let retried = options.retry_timeouts && before < options.retry.limit;
        let expected = if retried { FailureOutcome::Retrying } else { FailureOutcome::TimedOut };
        prop_assert_eq!(outcome, expected);
    }

    // B40, B41
    #[test]
    fn a_run_is_retried_only_before_its_deadline_and_within_an_hour(
        attempt in any::<u32>(), retries in any::<u32>(), left in proptest::option::of(0u64..10_000_000),
    ) {
        let deadline = left.map(|ms| now().after(Duration::from_millis(ms)));
        if let Some(at) = after_execution_failure(attempt, retries, now(), deadline) {
            prop_assert!(attempt <= retries);
            prop_assert!(deadline.is_none_or(|deadline| at < deadline));
            prop_assert!(at > now() && now().until(at) <= secs(3_600));
        }
    }
}

fn check_delays(backoff: Backoff, cap: u64, expected: &[u64]) {
    let policy = policy(9, backoff, 10, cap);
    let delays: Vec<_> = (1..)
        .zip(expected)
        .map(|(n, _)| retry_delay(&policy, n))
        .collect();
    let expected: Vec<_> = expected.iter().copied().map(secs).collect();
    assert_eq!(delays, expected, "{backoff:?}");
}

// B31, B199
#[test]
fn delays_follow_the_mode_up_to_the_cap() {
    check_delays(Backoff::Constant, 50, &[10, 10, 10, 10]);
    check_delays(Backoff::Linear, 35, &[10, 20, 30, 35, 35]);
    check_delays(Backoff::Exponential, 50, &[10, 20, 40, 50, 50]);
    check_delays(Backoff::Custom, 50, &[10, 10, 10]);
    check_delays(Backoff::Constant, 5, &[5, 5]);
}

#[test]
fn the_first_retry_waits_for_the_base() {
    let (outcome, at) = after_step_failure(&step(3, false), 0, FailureClass::Retryable, now());
    assert_eq!(outcome, FailureOutcome::Retrying);
    assert_eq!(at, Some(now().after(secs(1))));
    let (_, at) = after_step_failure(&step(3, false), 2, FailureClass::Retryable, now());
    assert_eq!(at, Some(now().after(secs(4))));
}

#[test]
fn a_delay_that_the_error_chose_is_not_capped() {
    let class = FailureClass::RetryAfter(secs(3_600));
    let (_, at) = after_step_failure(&step(3, false), 0, class, now());
    assert_eq!(at, Some(now().after(secs(3_600))));
}

#[test]
fn a_step_without_retries_is_exhausted_by_its_first_failure() {
    let outcome = after_step_failure(&step(0, false), 0, FailureClass::Retryable, now());
    assert_eq!(outcome, (FailureOutcome::Exhausted, None));
}

// B40
#[test]
fn a_run_is_retried_after_two_to_the_power_of_its_attempt() {
    for (attempt, seconds) in [
        (1, 2),
        (2, 4),
        (3, 8),
        (11, 2_048),
        (12, 3_600),
        (400, 3_600),
    ] {
        let at = after_execution_failure(attempt, 400, now(), None);
        assert_eq!(at, Some(now().after(secs(seconds))), "attempt {attempt}");
    }
    assert_eq!(after_execution_failure(1, 0, now(), None), None);
    assert_eq!(after_execution_failure(4, 3, now(), None), None);
}

// B41
#[test]
fn a_retry_at_the_deadline_is_too_late() {
    let retry_at = now().after(secs(2));
    assert_eq!(after_execution_failure(1, 3, now(), Some(retry_at)), None);
    let later = retry_at.after(Duration::from_millis(1));
    assert_eq!(
        after_execution_failure(1, 3, now(), Some(later)),
        Some(retry_at)
    );
}
