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

#[test]
fn a_few_seeds_keep_everything_that_must_hold() {
    for seed in 100..120 {
        let report = simulate(&plan(seed), false);
        assert_eq!(report.violations, [], "seed {seed}");
    }
}

#[test]
fn programs_in_workers_keep_everything_that_must_hold() {
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
        "a run paused in its rollback could not be resumed after somebody had cancelled it",
    ),
    (
        1651,
        "an execution that stayed in memory repeated the number of another node's attempt",
    ),
    (
        6695,
        "a fenced step whose start got durable during a pause never began",
    ),
    (
        6853,
        "an executor that had lost its run went on under a later right",
    ),
    (
        7591,
        "the check of retention did not know of a clock set back in between",
    ),
    (
        8379,
        "the check of the order of timers did not know of one that was hardly set",
    ),
    (9263, "a run completed without looking at its inbox"),
    (
        16415,
        "a choice of a version depended on what a loop had dropped",
    ),
    (17952, "a timer that was tried again was overtaken"),
    (18268, "a step that was done was begun again"),
    (
        20329,
        "retention deleted a run that had just ended under the id of an old one",
    ),
    (
        20669,
        "the check of children did not know of one that was given up",
    ),
    (21370, "a run diverged after it was lost and taken again"),
    (47610, "a commit was sent after its node had retired"),
    (
        104832,
        "the check of keys did not tell a run from its namesake",
    ),
    (
        11701,
        "an executor was kept awake by code that was not to be polled",
    ),
    (
        47772,
        "retention deleted a run that had come under the id of the one it had listed",
    ),
    (
        120942,
        "children of one name in a plain join changed places in a further pass",
    ),
    (
        2046,
        "a run that was paused behind its last undo and then cancelled could not be resumed",
    ),
    (
        272,
        "a run whose worker left while it was created was nobody's",
    ),
    (
        1499,
        "a node kept a run that had died there and that nobody there could execute any more",
    ),
    (
        46666,
        "what a worker appended passed for written while its run was given back",
    ),
    (
        55825,
        "the check of steps did not know of a node that was granted a run twice, once in vain",
    ),
    (
        1146,
        "the check of standing still did not know that a run was taken between two looks",
    ),
];

#[test]
fn seeds_that_found_something_find_nothing_any_more() {
    for (seed, what) in FOUND {
        let report = simulate(&plan(*seed), false);
        assert_eq!(report.violations, [], "seed {seed}: {what}");
    }
}
