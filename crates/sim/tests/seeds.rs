//! The simulation itself: it is deterministic, it keeps what must hold, and seeds that once found a bug stay here.

use everstep_sim::{Limits, Plan, simulate};

fn plan(seed: u64) -> Plan {
    Plan::new(seed, Limits::default())
}

#[test]
fn the_same_seed_gives_the_same_timeline() {
    for seed in 0..20 {
        let (first, second) = (simulate(&plan(seed), true), simulate(&plan(seed), true));
        assert!(!first.timeline.is_empty());
        let lines = first.timeline.lines().zip(second.timeline.lines());
        for (one, two) in lines {
            assert_eq!(one, two, "seed {seed}");
        }
        assert_eq!(first.timeline.len(), second.timeline.len(), "seed {seed}");
    }
}

#[test]
fn a_timeline_changes_nothing() {
    for seed in 0..5 {
        let (told, untold) = (simulate(&plan(seed), true), simulate(&plan(seed), false));
        assert_eq!(
            (told.micros, told.calls),
            (untold.micros, untold.calls),
            "seed {seed}"
        );
        assert_eq!(told.faults, untold.faults, "seed {seed}");
    }
}

/// Seeds that once found a bug.
const FOUND: &[u64] = &[
    // An execution that stayed in memory repeated the number of an attempt that another node had made.
    1651,
    // A run that was paused in its rollback and then asked to fail could not be resumed.
    320,
];

#[test]
fn seeds_that_found_a_bug_find_it_no_more() {
    for seed in FOUND {
        let report = simulate(&plan(*seed), false);
        assert_eq!(report.violations, [], "seed {seed}");
    }
}

#[test]
fn a_few_seeds_keep_everything_that_must_hold() {
    for seed in 100..120 {
        let report = simulate(&plan(seed), false);
        assert_eq!(report.violations, [], "seed {seed}");
    }
}
