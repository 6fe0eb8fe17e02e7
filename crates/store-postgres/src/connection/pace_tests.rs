//! When calls count as mostly work.

use super::*;

fn pace(calls: impl Iterator<Item = (u64, u64)>) -> Pace {
    let pace = Pace::default();
    for (took, worked) in calls {
        pace.record(Duration::from_micros(took), Duration::from_micros(worked));
    }
    pace
}

#[test]
fn a_sync_that_is_longer_than_half_the_work_makes_calls_mostly_waiting() {
    assert!(pace((0..16).map(|_| (1_200, 800))).is_mostly_work());
    assert!(!pace((0..16).map(|_| (1_201, 800))).is_mostly_work());
}

#[test]
fn waiting_for_a_processor_is_ignored() {
    let busy = (0..16).map(|n| if n == 3 { (1_000, 800) } else { (5_000, 800) });
    assert!(pace(busy).is_mostly_work());
}

#[test]
fn occasional_waiting_for_a_lock_is_not_work() {
    let locked = (0..16).map(|n| match n {
        3 => (200_500, 200_000),
        _ => (600, 100),
    });
    assert!(!pace(locked).is_mostly_work());
}

#[test]
fn only_the_last_calls_count_and_few_are_not_enough() {
    assert!(!pace((0..15).map(|_| (800, 800))).is_mostly_work());
    let slow_then_quick = (0..32).map(|n| if n < 16 { (9_000, 10) } else { (900, 800) });
    assert!(pace(slow_then_quick).is_mostly_work());
}

#[test]
fn answers_that_arrive_together_are_ignored() {
    let pairs = (0..32).map(|n| if n % 2 == 0 { (2_000, 800) } else { (5, 800) });
    assert!(!pace(pairs).is_mostly_work());
}
