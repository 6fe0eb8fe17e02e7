//! The memory of loops: dropped iterations leave nothing, and replies are kept while their senders
//! may read them.

use std::time::Duration;

use everstep_model::record::Event;
use everstep_model::{
    ErrorCode, Failure, Payload, RecordNumber, RetryPolicy, StepOptions, UndoMode, limits,
};

use super::tests::{World, name};
use crate::FailureClass;
use crate::replay::{CallSite, Resolution, Turn, WaitCall, Written};

/// Takes an event in the current iteration, and returns its record.
fn take_event(world: &mut World) -> RecordNumber {
    let event = RecordNumber(world.next);
    let sent = Event {
        name: name("ping"),
        payload: Payload::null(),
        dedup_id: None,
        reply_to: Some("who".to_owned()),
        by: None,
    };
    world.append(vec![sent.into()]);
    let wanted = WaitCall {
        names: vec![name("ping")],
        batch: 1,
        at_once: false,
        timeout: None,
    };
    let scope = world.scope();
    let wait = name("ping");
    let op = world.run.call(&scope, &wait, wanted, CallSite::caller());
    let turn = world.run.turn(world.now);
    assert!(matches!(turn, Turn::Resolved(taken, Resolution::Events(_)) if Some(taken) == op));
    event
}

// B105
#[test]
fn the_memory_of_dropped_iterations_is_released() {
    let mut world = World::new();
    for _ in 0..100 {
        world.now = world.now.after(Duration::from_secs(30));
        let event = take_event(&mut world);
        let scope = world.scope();
        let is_first = world.run.write(
            &scope,
            Written::Reply {
                event,
                payload: Payload::null(),
            },
            CallSite::caller(),
        );
        assert!(is_first);
        // A step that can be undone and fails for good has nothing to undo.
        let options = StepOptions {
            undo: UndoMode::Undo,
            retry: RetryPolicy::NONE,
            ..StepOptions::default()
        };
        let called = world
            .run
            .call(&scope, &name("fails"), options, CallSite::caller());
        let op = called.unwrap();
        world.commit();
        assert_eq!(world.run.turn(world.now), Turn::Idle);
        let start = world.run.begin_attempt(op).unwrap();
        let failure = Failure::new(ErrorCode::StepFailed, "no");
        let class = FailureClass::Retryable;
        world
            .run
            .fail_attempt(op, &start, failure, class, world.now);
        world.commit();
        let turn = world.run.turn(world.now);
        assert!(matches!(turn, Turn::Resolved(_, Resolution::Failed(_))));
        world.go_round(3);
        assert!(world.run.replies.len() <= 8, "{}", world.run.replies.len());
        let called = world.run.rollback.log.fold.called().count();
        assert!(called <= 8, "{called}");
    }
}

// B84, B105
#[test]
fn an_iteration_that_replied_is_kept_for_a_minute_and_for_at_most_a_hundred_others() {
    let mut world = World::new();
    for (seconds, stay) in [(10, 6), (0, limits::ANSWERED_ITERATIONS_MAX)] {
        for _ in 0..300 {
            world.now = world.now.after(Duration::from_secs(seconds));
            let event = take_event(&mut world);
            let scope = world.scope();
            world.run.write(
                &scope,
                Written::Reply {
                    event,
                    payload: Payload::null(),
                },
                CallSite::caller(),
            );
            world.step("work", UndoMode::None);
            world.go_round(1);
        }
        let held = world.iterations().len();
        assert!((stay..stay + 4).contains(&held), "{held}");
    }
}
