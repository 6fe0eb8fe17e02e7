//! The canonical workflows with a crash after every commit: results, the order of undos and
//! external effects are correct in every case.

use everstep::{Engine, EngineBuilder, millis};
use everstep_canonical::Outside;

use crate::crash_after_commit::{Scenario, crash_after_every_commit};

/// Runs a canonical workflow with a crash after each of its commits.
fn survives_every_crash(name: &str) {
    let story = everstep_canonical::named(name).unwrap();
    let outside = Outside::new(1, tokio::time::sleep);
    crash_after_every_commit(&Scenario {
        define: |builder: EngineBuilder| story.define(builder, &outside),
        drive: async |engine: Engine| {
            if let Err(broken) = story.drive(engine, &outside).await {
                panic!("{broken}");
            }
            let _ = outside.take();
        },
        downtime: millis(50),
    });
}

macro_rules! stories {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            survives_every_crash(stringify!($name));
        })*

        #[test]
        fn every_canonical_workflow_is_tested() {
            let tested = [$(stringify!($name)),*];
            let known: Vec<_> = everstep_canonical::ALL.iter().map(|story| story.name).collect();
            assert_eq!(tested.as_slice(), known);
        }
    };
}

stories! {
    // B1, B25, B42
    steps_that_are_retried_and_sleeps
    // B17
    early_results_and_fenced_steps
    // B60, B101, B102, B105
    a_loop_that_forgets_its_past
    // B68, B69, B84, B88
    events_that_come_early_in_batches_and_with_an_answer
    a_question_that_is_answered_twice
    a_message_to_another_run
    // B111, B112, B113, B115
    joins_within_joins
    // B117, B119, B120
    a_race_of_a_step_an_event_and_a_timer
    a_switch_whose_value_is_not_the_same_twice
    // B166, B167
    children_that_succeed_and_fail
    // B126, B134
    a_rollback_through_a_loop_and_a_join
    // B126, B134, B166
    a_rollback_through_children
    // B142
    the_point_of_no_return_and_an_explicit_rollback
    // B144, B145
    a_pause_and_a_resume
    // B138, B154, B174
    a_cancellation_with_rollback
    // B47, B183
    a_step_that_is_skipped_a_run_that_is_recovered_and_its_fork
}
