//! Requests that end a pause, and requests that do not.

use everstep_model::record::{
    CancelRequested, DeadlinePassed, ForcedFailure, PauseRequested, ResumeRequested, StepStarted,
    UndoStarted,
};
use everstep_model::{Body, Generation, RunId, Scope, StepOptions, UndoMode};

use crate::replay::{CallSite, Replay, Resolution, Turn, WaitCall};
use everstep_samples::*;

fn replay(journal: Journal) -> Replay {
    Replay::new(RunId::new("r").unwrap(), Generation::FIRST, journal.0)
}

fn pause() -> PauseRequested {
    PauseRequested {
        by: None,
        reason: None,
    }
}

fn cancel() -> CancelRequested {
    CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    }
}

/// Returns all requests to end a run.
fn ends() -> [Body; 3] {
    let passed = DeadlinePassed { deadline: time(1) };
    let forced = ForcedFailure {
        location: None,
        error: failure("enough"),
        by: None,
        so_far: None,
    };
    [cancel().into(), passed.into(), forced.into()]
}

/// Lets the code wait for an event.
fn begin_waiting(replay: &mut Replay) {
    assert_eq!(replay.turn(time(9)), Turn::Start);
    let wanted = WaitCall {
        names: vec![name("e")],
        batch: 1,
        at_once: false,
        timeout: None,
    };
    let location = name("e");
    let waits = replay.call(&Scope::ROOT, &location, wanted, CallSite::caller());
    assert!(waits.is_some());
}

// B144
#[test]
fn a_paused_run_continues_when_its_end_is_requested() {
    for end in ends() {
        let mut replay = replay(Journal::created().with(pause()).with(end.clone()));
        begin_waiting(&mut replay);
        let turn = replay.turn(time(9));
        let goes_on = matches!(
            turn,
            Turn::Resolved(_, Resolution::Refused(_)) | Turn::Broken(_)
        );
        assert!(goes_on, "{end:?}: {turn:?}");
    }
}

// B144
#[test]
fn a_run_paused_while_it_is_cancelled_stays_paused_despite_requests_to_end() {
    for end in ends() {
        let journal = Journal::created().with(cancel()).with(pause());
        let mut replay = replay(journal.with(end.clone()));
        begin_waiting(&mut replay);
        assert!(matches!(replay.turn(time(9)), Turn::Resolved(..)));
        assert_eq!(replay.turn(time(9)), Turn::Pausing, "{end:?}");
        assert!(replay.status().is_pausing());
    }
}

/// Creates a paused run that is undoing a step because it failed, and that received this request.
fn rolling_back(then: impl Into<Body>) -> Replay {
    let undo = StepOptions {
        undo: UndoMode::Undo,
        ..StepOptions::default()
    };
    let journal = Journal::created()
        .with(StepStarted {
            location: at("s:0"),
            attempt: 1,
            options: Some(undo),
        })
        .with(completed_step("s:0", 1, "1"))
        .with(UndoStarted {
            location: at("s:0"),
            attempt: 1,
            run: None,
            ends_run: false,
        })
        .with(pause())
        .with(then);
    let mut replay = replay(journal);
    assert_eq!(replay.turn(time(9)), Turn::Start);
    let step = replay.call(&Scope::ROOT, &name("s"), undo, CallSite::caller());
    assert!(step.is_some());
    assert!(matches!(replay.turn(time(9)), Turn::Resolved(..)));
    replay.returned(Some("it failed"));
    replay
}

// B144
#[test]
fn a_run_paused_in_its_rollback_stays_paused_despite_requests_to_end() {
    for end in ends() {
        let turn = rolling_back(end.clone()).turn(time(9));
        assert_eq!(turn, Turn::Pausing, "{end:?}");
    }
    let resume = ResumeRequested { by: None };
    assert_eq!(rolling_back(resume).turn(time(9)), Turn::Idle);
}
