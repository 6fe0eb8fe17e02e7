//! The simulation is deterministic, the invariants hold, and seeds that once found a bug stay here.

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
fn a_timeline_does_not_change_the_simulation() {
    for seed in 0..5 {
        let (traced, untraced) = (simulate(&plan(seed), true), simulate(&plan(seed), false));
        assert_eq!(
            (traced.micros, traced.calls),
            (untraced.micros, untraced.calls),
            "seed {seed}"
        );
        assert_eq!(traced.faults, untraced.faults, "seed {seed}");
    }
}

#[test]
fn a_few_seeds_violate_no_invariant() {
    for seed in 100..120 {
        let report = simulate(&plan(seed), false);
        assert_eq!(report.violations, [], "seed {seed}");
    }
}

#[test]
fn programs_in_workers_violate_no_invariant() {
    for seed in 200..215 {
        let plan = plan(seed).served();
        let report = simulate(&plan, seed == 200);
        assert_eq!(report.violations, [], "seed {seed}");
        if seed == 200 {
            assert!(report.timeline.contains("POST append to node"), "{seed}");
            let again = simulate(&plan, true);
            assert_eq!(report.timeline, again.timeline);
        }
    }
}

/// Seeds that found a bug. Each fix has a smaller test of its own: a seed leads to another
/// simulation as soon as workloads, faults or the order of calls change.
const FOUND: &[(u64, &str)] = &[
    (
        388,
        "a run paused in its rollback could not be resumed after it was cancelled",
    ),
    (
        1651,
        "an execution that stayed in memory repeated the number of another node's attempt",
    ),
    (
        6695,
        "a fenced step whose start became durable during a pause never began",
    ),
    (
        6853,
        "an executor that had lost its run continued under a later claim",
    ),
    (
        7591,
        "the check of retention ignored that a clock was set back in between",
    ),
    (
        8379,
        "the check of the order of timers included one that was set too recently",
    ),
    (9263, "a run completed without reading its inbox"),
    (
        16415,
        "the choice of a version depended on records that a loop had dropped",
    ),
    (17952, "a later timer overtook one that was retried"),
    (18268, "a completed step was started again"),
    (
        20329,
        "retention deleted a run that had just ended because an old one had the same id",
    ),
    (
        20669,
        "the check of children ignored that one was abandoned",
    ),
    (21370, "a run diverged after it was lost and claimed again"),
    (47610, "a commit was sent after its node had retired"),
    (
        104832,
        "the check of keys confused two runs with the same id",
    ),
    (
        11701,
        "an executor was woken again and again by code that it must not poll",
    ),
    (
        47772,
        "retention deleted a new run with the id of the one that it had listed",
    ),
    (
        120942,
        "children with the same name in a plain join were swapped in a further pass",
    ),
    (
        2046,
        "a run that was paused after its last undo and then cancelled could not be resumed",
    ),
    (
        272,
        "a run whose worker left during its creation had no executor",
    ),
    (
        1499,
        "a node kept a crashed run that none of its workers could execute any more",
    ),
    (
        46666,
        "an append of a worker counted as written while its run was released",
    ),
    (
        55825,
        "the check of steps ignored that a node had two claims, one of which was lost",
    ),
    (
        1146,
        "the check of progress ignored that a run was claimed between two checks",
    ),
];

#[test]
fn seeds_that_found_a_bug_pass() {
    for (seed, what) in FOUND {
        let report = simulate(&plan(*seed), false);
        assert_eq!(report.violations, [], "seed {seed}: {what}");
    }
}
