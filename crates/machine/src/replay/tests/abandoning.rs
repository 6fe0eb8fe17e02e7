//! Operations that the code drops before they resolve. Those of one poll may be dropped in any
//! order.

use proptest::prelude::*;

use super::*;

/// A run that calls some steps and waits for `go`, and then for `more`.
struct Dropping {
    run: Replay,
    steps: Vec<OpId>,
}

impl Dropping {
    fn start(mut run: Replay, steps: usize) -> Self {
        assert_eq!(run.turn(NOW), Turn::Start);
        let steps = (0..steps).map(|n| step(&mut run, &format!("s{n}")).unwrap());
        let steps = steps.collect();
        wait(&mut run, "go");
        Self { run, steps }
    }

    /// Drops these steps in the poll that the next event leads to.
    fn drop_in_next_poll(&mut self, order: &[usize]) {
        let turn = self.run.turn(NOW);
        assert!(
            matches!(turn, Turn::Resolved(_, Resolution::Events(_))),
            "{turn:?}"
        );
        for index in order {
            self.run.drop_operation(self.steps[*index]);
        }
        self.run
            .call(&Scope::ROOT, &name("go"), wait_for("go"), here());
    }
}

/// A journal in which each of these groups of steps is dropped in one poll.
fn recorded(groups: &[&[usize]]) -> Journal {
    let mut journal = Journal::new();
    let steps = groups.iter().map(|group| group.len()).sum();
    let mut hot = Dropping::start(journal.cold(), steps);
    journal.commit(&mut hot.run);
    for group in groups {
        journal.append(&mut hot.run, vec![event("go", "1")]);
        hot.drop_in_next_poll(group);
        journal.commit(&mut hot.run);
    }
    journal
}

proptest! {
    #[test]
    fn steps_dropped_in_one_poll_replay_in_any_order(
        order in (1..8_usize).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let in_order: Vec<usize> = (0..order.len()).collect();
        let journal = recorded(&[&in_order]);
        let mut cold = Dropping::start(journal.cold(), order.len());
        cold.drop_in_next_poll(&order);
        prop_assert_eq!(cold.run.turn(NOW), Turn::Idle);
        prop_assert!(!cold.run.outgoing().is_pending(), "everything was recorded");
    }

    #[test]
    fn records_of_dropped_steps_are_recognised_in_any_order(
        order in (1..8_usize).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let in_order: Vec<usize> = (0..order.len()).collect();
        let journal = recorded(&[&in_order]);
        let until_event = order.len() + 3;
        let early = Journal(journal.0[..until_event].to_vec());
        let mut hot = Dropping::start(early.cold(), order.len());
        hot.drop_in_next_poll(&order);
        hot.run.extend(journal.0[until_event..].to_vec());
        prop_assert_eq!(hot.run.turn(NOW), Turn::Idle);
    }
}

#[test]
fn steps_dropped_in_different_polls_do_not_replay_in_another_order() {
    let journal = recorded(&[&[0], &[1]]);
    let mut cold = Dropping::start(journal.cold(), 2);
    cold.drop_in_next_poll(&[1]);
    let message = diverged(&mut cold.run);
    assert!(message.contains("the dropping of step `s0:0`"), "{message}");
}

#[test]
fn dropping_a_step_that_the_journal_does_not_drop_is_a_divergence() {
    let journal = recorded(&[&[0, 1]]);
    let mut cold = Dropping::start(journal.cold(), 2);
    cold.drop_in_next_poll(&[0]);
    let message = diverged(&mut cold.run);
    assert!(message.contains("the dropping of step `s1:0`"), "{message}");
}
