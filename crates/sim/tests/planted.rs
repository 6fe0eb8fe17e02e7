//! Planted bugs are found by their signs, and no violation is found without them.

use everstep_sim::planted::{SearchResult, search};
use everstep_sim::{Bug, Limits, Plan, simulate};

/// Bugs that show in every other seed. `cargo xtask sim --planted` searches for the others.
const SHALLOW: &[Bug] = &[
    Bug::AckBeforeDurable,
    Bug::TimerEarly,
    Bug::TimerFiredTwice,
    Bug::EventConsumedTwice,
    Bug::ReadyClearedUnguarded,
];

#[test]
fn a_planted_bug_is_found_and_the_same_seed_without_it_is_clean() {
    for bug in SHALLOW {
        let SearchResult::Found(caught) = search(*bug, 0, 20) else {
            panic!("{bug:?} was not found");
        };
        let clean = simulate(&Plan::new(caught.seed, Limits::default()), false);
        assert_eq!(clean.violations, [], "{bug:?}");
    }
}

#[test]
fn a_bug_is_planted_in_its_own_simulation_only() {
    let plan = Plan::new(0, Limits::default());
    let before = simulate(&plan, true);
    let broken = simulate(&plan.clone().with_bug(Some(Bug::TimerEarly)), true);
    assert_ne!(before.timeline, broken.timeline);
    assert_eq!(simulate(&plan, true).timeline, before.timeline);
}
