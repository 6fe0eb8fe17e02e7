//! What a copied journal holds, case by case. That it replays is shown where there is code to replay it.

use everstep_model::record::{
    BranchCompleted, BranchFailed, BranchesKind, BranchesStarted, Cancelled, ChildStarted, Failed,
    FailureOutcome, ForkReason, IterationRange, LoopAdvanced, Note, Paused, RollbackFailed,
    StepSkipped, UndoCompleted, UndoFailed, UndoStarted,
};
use everstep_model::{
    Body, Generation, Payload, Record, RecordNumber, RpcId, RunId, RunStatus, StepOptions, UndoMode,
};

use super::{CannotFork, ForkExtent, ForkPlan, Forked, fork};
use crate::overview::samples::*;

fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

fn plan(extent: ForkExtent) -> ForkPlan {
    ForkPlan {
        source: (id("r"), Generation::FIRST),
        began: time(0),
        target: (id("r"), Generation(2)),
        extent,
        by: Some("alice".to_owned()),
        now: time(1_000),
    }
}

fn before(at_place: &str) -> ForkExtent {
    ForkExtent::Before {
        at: at(at_place),
        edited: None,
    }
}

fn forked(journal: &Journal, extent: ForkExtent) -> Result<Forked, CannotFork> {
    fork(&journal.0, ForkReason::Restart, &plan(extent))
}

/// Type names with their places, to compare journals at a glance.
fn lines(records: &[Record]) -> Vec<String> {
    let line = |record: &Record| {
        let body = &record.body;
        match body.location() {
            Some(location) => format!("{} {location}", body.type_name()),
            None => body.type_name().to_owned(),
        }
    };
    records.iter().map(line).collect()
}

fn copied(journal: &Journal, extent: ForkExtent) -> Vec<String> {
    lines(&forked(journal, extent).unwrap().records)
}

fn failed(causes: &[&str]) -> Failed {
    Failed {
        error: failure("gateway down"),
        rolled_back: false,
        abandoned: Vec::new(),
        caused_by: causes.iter().map(|place| at(place)).collect(),
    }
}

fn branches(owner: &str, names: &[&str]) -> BranchesStarted {
    BranchesStarted {
        location: at(owner),
        kind: BranchesKind::Join,
        branches: names.iter().map(|text| name(text)).collect(),
    }
}

fn note(place: &str) -> Note {
    Note {
        location: at(place),
        text: "oops".to_owned(),
    }
}

/// `a` done, `b` failed for good after one retry.
fn failed_in_b() -> Journal {
    Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(failed_step("b:0", 1, FailureOutcome::Retrying))
        .with(fired(
            everstep_model::record::TimerPurpose::Retry,
            Some("b:0"),
            time(100),
        ))
        .with(started("b:0", 2))
        .with(failed_step("b:0", 2, FailureOutcome::Exhausted))
        .with(failed(&["b:0"]))
}

#[test]
fn a_restart_keeps_how_the_run_began_and_nothing_else() {
    let mut journal = failed_in_b();
    let Body::Created(created) = &mut journal.0[0].record.body else {
        panic!();
    };
    created.deadline = Some(time(60));
    created.idempotency_key = Some("key".to_owned());
    let records = forked(&journal, ForkExtent::Beginning(Some(7)))
        .unwrap()
        .records;
    assert_eq!(lines(&records), ["created"]);
    assert_eq!(records[0].time, time(1_000));
    let Body::Created(created) = &records[0].body else {
        panic!();
    };
    assert_eq!(created.version, 7);
    assert_eq!(created.deadline, Some(time(1_060)), "as long as before");
    assert_eq!(created.idempotency_key, None);
    assert_eq!(created.by.as_deref(), Some("alice"));
    let from = created.forked_from.as_ref().unwrap();
    assert_eq!((&from.run, from.generation), (&id("r"), Generation::FIRST));
    assert_eq!(from.keys_of, None);
}

#[test]
fn a_fork_before_an_operation_keeps_what_came_before_it() {
    let journal = failed_in_b();
    let kept = copied(&journal, before("b:0"));
    assert_eq!(kept, ["created", "step_started a:0", "step_completed a:0"]);
    assert_eq!(
        forked(&journal, before("c:0")),
        Err(CannotFork::UnknownOperation(at("c:0")))
    );
}

#[test]
fn results_of_steps_under_way_at_the_cut_come_along() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1))
        .with(sleeping("c:0"))
        .with(event("e"))
        .with(completed_step("b:0", 1, "2"))
        .with(failed_step("a:0", 1, FailureOutcome::Fatal));
    let kept = copied(&journal, before("c:0"));
    assert_eq!(
        kept,
        [
            "created",
            "step_started a:0",
            "step_started b:0",
            "step_completed b:0"
        ]
    );
}

// B152
#[test]
fn a_step_still_running_outside_the_cut_refuses_the_fork_of_a_live_run() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1));
    let refused = Err(CannotFork::StillRunning(at("a:0")));
    assert_eq!(forked(&journal, before("b:0")), refused);
    assert_eq!(forked(&journal, ForkExtent::End), refused);
    // The step itself may be running: it is what is done again.
    assert!(forked(&journal, before("a:0")).is_ok());
    let over = journal.with(terminated(&["a:0"]));
    assert!(forked(&over, before("b:0")).is_ok());
}

// B152
#[test]
fn a_place_inside_a_loop_stands_for_the_whole_loop() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("l/~0/s:0", 1))
        .with(completed_step("l/~0/s:0", 1, "1"))
        .with(advanced("l:0", 1, false, &[]))
        .with(started("l/~1/s:0", 1));
    let kept = copied(&journal, before("l/~1/s:0"));
    assert_eq!(kept, ["created", "step_started a:0", "step_completed a:0"]);
    let edited = ForkExtent::Before {
        at: at("l/~1/s:0"),
        edited: Some(Payload::null()),
    };
    assert_eq!(
        forked(&journal, edited),
        Err(CannotFork::InsideLoop(at("l/~1/s:0")))
    );
    assert!(forked(&journal, before("l/~9/s:0")).is_err());
}

#[test]
fn an_edited_result_stands_where_the_step_began() {
    let journal = failed_in_b();
    let edited = |place: &str| ForkExtent::Before {
        at: at(place),
        edited: Some(json("9")),
    };
    let records = forked(&journal, edited("a:0")).unwrap().records;
    assert_eq!(
        lines(&records),
        ["created", "step_started a:0", "step_edited a:0"]
    );
    let waits = Journal::created().with(sleeping("n:0"));
    assert_eq!(
        forked(&waits, edited("n:0")),
        Err(CannotFork::NotAStep(at("n:0")))
    );
}

#[test]
fn references_follow_the_records_they_name() {
    let mut journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(event("e"))
        .with(waiting("w:0", &["e"]))
        .with(took("w:0", &[2]))
        .with(asked("ask:0", "rpc_old"))
        .with(answered("ask:0", "rpc_old"))
        .with(LoopAdvanced {
            folded: RecordNumber(5),
            resolved: 0,
            ..advanced("l:0", 1, false, &[(1, 1)])
        })
        .with(started("b:0", 1));
    journal.0.remove(1);
    let records = forked(&journal, before("b:0")).unwrap().records;
    let bodies: Vec<&Body> = records.iter().map(|record| &record.body).collect();
    assert!(matches!(bodies[3], Body::WaitCompleted(r) if r.events == [RecordNumber(1)]));
    let new = RpcId::of(&id("r"), Generation(2), &at("ask:0"));
    assert!(matches!(bodies[4], Body::RpcRequested(r) if r.rpc_id == new));
    assert!(matches!(bodies[5], Body::RpcAnswered(r) if r.rpc_id == new));
    assert!(
        matches!(bodies[6], Body::LoopAdvanced(r) if r.folded == RecordNumber(4) && r.dropped.is_empty())
    );
}

#[test]
fn iterations_dropped_after_the_cut_are_said_to_be_gone() {
    let gone = vec![IterationRange { first: 0, last: 8 }];
    let mut journal = Journal::created()
        .with(started("l/~0/s:0", 1))
        .with(advanced("l:0", 5, false, &[]))
        .with(sleeping("other:0"))
        .with(LoopAdvanced {
            gone,
            ..advanced("l:0", 20, false, &[(1, 1)])
        });
    journal.0.remove(1);
    let records = forked(&journal, before("other:0")).unwrap().records;
    let Some(Body::LoopAdvanced(last)) = records.last().map(|record| &record.body) else {
        panic!("{records:?}");
    };
    assert_eq!(last.gone, [IterationRange { first: 0, last: 4 }]);
}

#[test]
fn a_step_that_was_undone_behind_the_cut_is_done_again() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
    };
    let journal = Journal::created()
        .with(note("n:0"))
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(completed_step("b:0", 1, "1"))
        .with(undone)
        .with(started("c:0", 1));
    assert_eq!(copied(&journal, before("b:0")), ["created", "note n:0"]);
    // Where it is undone before the cut, the copy knows.
    let kept = copied(&journal, before("c:0"));
    assert_eq!(kept.last().unwrap(), "undo_completed a:0");
}

#[test]
fn an_edited_result_is_refused_where_something_before_it_was_undone_later() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
    };
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(completed_step("b:0", 1, "1"))
        .with(undone)
        .with(started("c:0", 1));
    let edited = ForkExtent::Before {
        at: at("b:0"),
        edited: Some(json("9")),
    };
    let refused = Err(CannotFork::Undone(at("b:0")));
    assert_eq!(forked(&journal, edited), refused);
}

#[test]
fn a_step_that_was_undone_after_the_failure_is_done_again_under_a_new_key() {
    let undone = UndoCompleted {
        location: at("fallback:0"),
        attempt: 1,
    };
    let journal = Journal::created()
        .with(started("reserve:0", 1))
        .with(failed_step("reserve:0", 1, FailureOutcome::Fatal))
        .with(started("fallback:0", 1))
        .with(completed_step("fallback:0", 1, "1"))
        .with(undone)
        .with(note("n:0"))
        .with(failed(&["reserve:0"]));
    let recovered = forked(&journal, ForkExtent::Recovered).unwrap();
    assert!(recovered.repeats_undone);
}

// B47
#[test]
fn a_recovered_run_has_the_failed_step_before_it_again() {
    let mut journal = failed_in_b();
    let plan = plan(ForkExtent::Recovered);
    let recovered = fork(&journal.0, ForkReason::Recover, &plan).unwrap();
    let records = &recovered.records;
    let kept = [
        "created",
        "step_started a:0",
        "step_completed a:0",
        "step_started b:0",
    ];
    assert_eq!(lines(records), kept);
    assert!(matches!(&records[3].body, Body::StepStarted(r) if r.attempt == 0));
    let Body::Created(created) = &records[0].body else {
        panic!();
    };
    let from = created.forked_from.as_ref().unwrap();
    assert_eq!(from.keys_of, Some(Generation::FIRST), "the same keys");
    // What came in after the failure is not lost.
    journal.0.pop();
    let journal = journal.with(event("late")).with(failed(&["b:0"]));
    let kept = copied(&journal, ForkExtent::Recovered);
    assert_eq!(kept.last().unwrap(), "event");
}

// B47
#[test]
fn only_runs_that_ended_badly_are_recovered() {
    let running = Journal::created().with(started("a:0", 1));
    let completed = Journal::created().with(completed());
    for (journal, status) in [
        (running, RunStatus::Running),
        (completed, RunStatus::Completed),
    ] {
        let refused = Err(CannotFork::WrongStatus(status));
        assert_eq!(forked(&journal, ForkExtent::Recovered), refused);
        assert_eq!(forked(&journal, ForkExtent::RollbackRetried), refused);
    }
}

#[test]
fn other_branches_keep_what_they_did_after_the_failure() {
    let completed = BranchCompleted {
        location: at("j:0"),
        branch: name("y"),
    };
    let broken = BranchFailed {
        location: at("j:0"),
        branch: name("x"),
        error: failure("gateway down"),
    };
    let journal = Journal::created()
        .with(branches("j:0", &["x", "y"]))
        .with(started("j/x/a:0", 1))
        .with(started("j/y/b:0", 1))
        .with(failed_step("j/x/a:0", 1, FailureOutcome::Fatal))
        .with(broken)
        .with(completed_step("j/y/b:0", 1, "1"))
        .with(started("j/y/c:0", 1))
        .with(completed_step("j/y/c:0", 1, "1"))
        .with(completed)
        .with(failed(&["j/x/a:0"]));
    assert_eq!(
        copied(&journal, ForkExtent::Recovered),
        [
            "created",
            "branches_started j:0",
            "step_started j/x/a:0",
            "step_started j/y/b:0",
            "step_completed j/y/b:0",
            "step_started j/y/c:0",
            "step_completed j/y/c:0",
            "branch_completed j:0",
        ]
    );
}

#[test]
fn what_the_code_did_about_the_failure_is_not_kept() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1))
        .with(failed_step("a:0", 1, FailureOutcome::Fatal))
        .with(note("n:0"))
        .with(completed_step("b:0", 1, "1"))
        .with(started("c:0", 1))
        .with(completed_step("c:0", 1, "1"))
        .with(failed(&["a:0"]));
    assert_eq!(
        copied(&journal, ForkExtent::Recovered),
        [
            "created",
            "step_started a:0",
            "step_started b:0",
            "step_completed b:0"
        ]
    );
}

#[test]
fn a_cancelled_run_is_recovered_as_if_nobody_had_asked() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1))
        .with(cancel("changed my mind"))
        .with(completed_step("b:0", 1, "1"))
        .with(failed_step("a:0", 1, FailureOutcome::Cancelled))
        .with(Cancelled {
            reason: None,
            rolled_back: false,
            abandoned: Vec::new(),
        });
    let kept = [
        "created",
        "step_started a:0",
        "step_started b:0",
        "step_completed b:0",
    ];
    assert_eq!(copied(&journal, ForkExtent::Recovered), kept);
    assert_eq!(copied(&journal, ForkExtent::End), kept);
}

// What the code said is written a moment later than what came in meanwhile.
#[test]
fn what_was_said_before_the_code_knew_of_its_end_is_kept() {
    let cancelled = Cancelled {
        reason: None,
        rolled_back: false,
        abandoned: Vec::new(),
    };
    let journal = Journal::created()
        .with(cancel("now"))
        .with(note("n:0"))
        .with(started("a:0", 1))
        .with(note("n:1"))
        .with(completed_step("a:0", 1, "1"))
        .with(cancelled);
    let kept = [
        "created",
        "note n:0",
        "step_started a:0",
        "step_completed a:0",
    ];
    assert_eq!(copied(&journal, ForkExtent::Recovered), kept);
    assert_eq!(copied(&journal, before("a:0")), ["created", "note n:0"]);
}

/// `a` and `b` done, `c` failed, `b` undone; `a` could not be undone.
fn rolled_back_half() -> Journal {
    let undo_failed = |attempt, retry_at| UndoFailed {
        location: at("a:0"),
        attempt,
        error: failure("no refund"),
        retry_at,
    };
    Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(completed_step("b:0", 1, "1"))
        .with(started("c:0", 1))
        .with(failed_step("c:0", 1, FailureOutcome::Fatal))
        .with(UndoStarted {
            location: at("b:0"),
            attempt: 1,
        })
        .with(UndoCompleted {
            location: at("b:0"),
            attempt: 1,
        })
        .with(undo_failed(1, Some(time(50))))
        .with(fired(
            everstep_model::record::TimerPurpose::Undo,
            Some("a:0"),
            time(50),
        ))
        .with(undo_failed(2, None))
        .with(RollbackFailed {
            error: failure("gateway down").at_attempt(1),
            rollback_error: failure("no refund"),
            abandoned: Vec::new(),
        })
}

// B137
#[test]
fn a_retried_rollback_keeps_finished_undos() {
    let kept = copied(&rolled_back_half(), ForkExtent::RollbackRetried);
    assert_eq!(
        kept[5..],
        [
            "step_started c:0",
            "step_failed c:0",
            "undo_started b:0",
            "undo_completed b:0"
        ]
    );
}

#[test]
fn what_was_undone_is_done_again_under_new_keys() {
    let journal = rolled_back_half();
    let plan = plan(ForkExtent::Recovered);
    let recovered = fork(&journal.0, ForkReason::Recover, &plan).unwrap();
    assert!(recovered.repeats_undone);
    let kept = ["created", "step_started a:0", "step_completed a:0"];
    assert_eq!(lines(&recovered.records), kept);
    let Body::Created(created) = &recovered.records[0].body else {
        panic!();
    };
    assert_eq!(created.forked_from.as_ref().unwrap().keys_of, None);
}

#[test]
fn a_failed_rollback_that_undid_nothing_is_recovered_where_the_run_failed() {
    let mut journal = rolled_back_half();
    journal.0.drain(7..9);
    let kept = copied(&journal, ForkExtent::Recovered);
    assert_eq!(kept.last().unwrap(), "step_started c:0");
}

#[test]
fn a_copy_of_a_paused_run_goes_on() {
    let journal = Journal::created()
        .with(sleeping("n:0"))
        .with(pause())
        .with(Paused { reason: None });
    let kept = copied(&journal, ForkExtent::End);
    assert_eq!(kept.last().unwrap(), "resume_requested");
    let before_the_pause = copied(&journal, before("n:0"));
    assert_eq!(before_the_pause, ["created"]);
}

#[test]
fn a_fork_beside_the_original_undoes_only_its_own_steps() {
    let mut begun = started("a:0", 1);
    begun.options = Some(StepOptions {
        undo: UndoMode::Undo,
        ..StepOptions::default()
    });
    let mut second = begun.clone();
    second.location = at("b:0");
    let journal = Journal::created()
        .with(begun)
        .with(StepSkipped {
            location: at("a:0"),
            result: Payload::null(),
            by: None,
        })
        .with(second)
        .with(terminated(&[]));
    let undo_of = |reason, place: &str| {
        let plan = plan(ForkExtent::End);
        let records = fork(&journal.0, reason, &plan).unwrap().records;
        let mut starts = records.iter().filter_map(|record| match &record.body {
            Body::StepStarted(r) if r.location == at(place) => r.options,
            _ => None,
        });
        starts.next().unwrap().undo
    };
    assert_eq!(undo_of(ForkReason::Fork, "a:0"), UndoMode::None);
    assert_eq!(undo_of(ForkReason::Fork, "b:0"), UndoMode::Undo);
    assert_eq!(undo_of(ForkReason::Restart, "a:0"), UndoMode::Undo);
}

#[test]
fn a_fork_beside_the_original_undoes_none_of_its_children() {
    let undoable = |place: &str| ChildStarted {
        undo: UndoMode::Undo,
        ..child(place, false)
    };
    let journal = Journal::created()
        .with(undoable("undone:0"))
        .with(child_finished("undone:0"))
        .with(UndoStarted {
            location: at("undone:0"),
            attempt: 1,
        })
        .with(undoable("done:0"))
        .with(child_finished("done:0"))
        .with(undoable("open:0"))
        .with(terminated(&[]));
    let undos = |reason| {
        let plan = plan(ForkExtent::End);
        let records = fork(&journal.0, reason, &plan).unwrap().records;
        let children = records.iter().filter_map(|record| match &record.body {
            Body::ChildStarted(record) => Some(record.undo),
            _ => None,
        });
        children.collect::<Vec<_>>()
    };
    // What the original has begun to undo, the copy knows.
    let expected = [UndoMode::Undo, UndoMode::None, UndoMode::None];
    assert_eq!(undos(ForkReason::Fork), expected);
    assert_eq!(undos(ForkReason::Restart), [UndoMode::Undo; 3]);
}
