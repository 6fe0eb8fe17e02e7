//! Tests of the encoding of effects and of the outcomes that parents receive.

use everstep_model::record::{Failed, RollbackFailed, Terminated};

use super::*;

fn link() -> Link {
    Link {
        run: RunId::new("parent").unwrap(),
        generation: Generation(2),
        location: "join:0/a/ship:3".parse().unwrap(),
        identity: Some(Seed(u64::MAX)),
    }
}

#[test]
fn every_effect_is_decoded_as_it_was_encoded() {
    let run = RunId::new("child").unwrap();
    // The maximum size of a payload. An effect may be larger.
    let payload = Payload::from_value(&"x".repeat(1024 * 1024 - 2)).unwrap();
    let failure = Failure::new(ErrorCode::StepFailed, "no");
    let effects = [
        Effect::StartChild(StartChild {
            run: run.clone(),
            workflow: Name::new("ship").unwrap(),
            input: payload.clone(),
            tags: vec!["red".to_owned()],
            parent: link(),
            detached: true,
            trace: None,
        }),
        Effect::AwaitRun {
            run: run.clone(),
            parent: link(),
        },
        Effect::ChildFinished(ChildFinished {
            parent: link(),
            run: run.clone(),
            generation: Generation(3),
            identity: Some(Seed(1)),
            outcome: ChildOutcome::Failed(failure.clone().caused_by(failure)),
        }),
        Effect::SendEvent {
            to: run.clone(),
            event: Name::new("paid").unwrap(),
            payload,
            sender: link(),
        },
        Effect::CancelRun {
            run: run.clone(),
            parent: link(),
        },
        Effect::TerminateRun {
            run,
            parent: link(),
        },
    ];
    for effect in effects {
        let payload = effect.to_payload().unwrap();
        assert_eq!(Effect::from_payload(&payload), Some(effect));
    }
}

#[test]
fn the_chain_of_causes_is_limited() {
    let mut error = Failure::new(ErrorCode::StepFailed, "the first");
    for _ in 0..500 {
        error = Failure::new(ErrorCode::ChildFailed, "a child").caused_by(error);
    }
    let end = Failed {
        error,
        rolled_back: false,
        abandoned: vec![],
        caused_by: vec![],
    };
    let Some(ChildOutcome::Failed(reported)) = outcome_of(&end.into()) else {
        panic!("it failed");
    };
    let mut causes = 0;
    let mut at = &reported;
    while let Some(cause) = &at.cause {
        causes += 1;
        at = cause;
    }
    assert_eq!(causes, CAUSES_MAX);
}

// B167
#[test]
fn a_child_whose_rollback_failed_reports_both_failures() {
    let end = RollbackFailed {
        error: Failure::new(ErrorCode::StepFailed, "no money"),
        rollback_error: Failure::new(ErrorCode::UndoFailed, "no refund"),
        abandoned: vec![],
    };
    let Some(ChildOutcome::Failed(why)) = outcome_of(&end.into()) else {
        panic!("it failed");
    };
    assert!(why.is(ErrorCode::RollbackFailed));
    assert!(why.message.contains("no refund"));
    assert_eq!(why.cause.unwrap().message, "no money");
}

#[test]
fn a_terminated_child_reports_the_reason() {
    let end = Terminated {
        by: None,
        reason: Some("too slow".to_owned()),
        abandoned: vec![],
        next_generation: None,
    };
    let Some(ChildOutcome::Cancelled(why)) = outcome_of(&end.into()) else {
        panic!("it was ended");
    };
    assert!(why.is(ErrorCode::RunTerminated));
    assert_eq!(why.message, "it was terminated: too slow");
}
