//! The content of copied journals, case by case. Crates with workflow code test that copies replay.

pub(super) mod samples;

use everstep_model::record::{
    ChildStarted, FailureOutcome, ForkReason, LoopAdvanced, Paused, StepSkipped, UndoCompleted,
    UndoStarted,
};
use everstep_model::{Body, Generation, Payload, RecordNumber, RpcId, StepOptions, UndoMode};

use super::{CannotFork, ForkExtent, fork};
use everstep_samples::*;
use samples::*;

#[test]
fn a_restart_keeps_only_the_creation() {
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
fn later_results_of_steps_in_flight_at_the_cut_are_copied() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1))
        .with(sleeping("c:0"))
        .with(note("n:0"))
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
fn a_live_run_cannot_be_forked_while_a_kept_step_is_running() {
    let journal = Journal::created()
        .with(started("a:0", 1))
        .with(started("b:0", 1));
    let refused = Err(CannotFork::StillRunning(at("a:0")));
    assert_eq!(forked(&journal, before("b:0")), refused);
    assert_eq!(forked(&journal, ForkExtent::End), refused);
    // The step itself may be running, because it is repeated.
    assert!(forked(&journal, before("a:0")).is_ok());
    let over = journal.with(terminated(&["a:0"]));
    assert!(forked(&over, before("b:0")).is_ok());
}

// B152
#[test]
fn a_location_inside_a_loop_means_the_whole_loop() {
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
fn an_edited_result_follows_the_start_of_its_step() {
    let journal = failed_in_b();
    let edited = |location: &str| ForkExtent::Before {
        at: at(location),
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
fn a_step_that_was_undone_after_the_cut_is_repeated() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
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
    // A copy that ends after the undo contains it.
    let kept = copied(&journal, before("c:0"));
    assert_eq!(kept.last().unwrap(), "undo_completed a:0");
}

#[test]
fn an_edited_result_is_refused_where_something_before_it_was_undone_later() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
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
fn a_copy_of_a_paused_run_is_not_paused() {
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
            so_far: None,
        })
        .with(second)
        .with(terminated(&[]));
    let undo_of = |reason, location: &str| {
        let plan = plan(ForkExtent::End);
        let records = fork(&journal.0, reason, &plan).unwrap().records;
        let mut starts = records.iter().filter_map(|record| match &record.body {
            Body::StepStarted(r) if r.location == at(location) => r.options,
            _ => None,
        });
        starts.next().unwrap().undo
    };
    assert_eq!(undo_of(ForkReason::Fork, "a:0"), UndoMode::None);
    assert_eq!(undo_of(ForkReason::Fork, "b:0"), UndoMode::Undo);
    assert_eq!(undo_of(ForkReason::Restart, "a:0"), UndoMode::Undo);
}

// B876
#[test]
fn a_copy_of_the_whole_journal_stays_beyond_the_point_of_no_return() {
    let beyond = everstep_model::record::Created {
        no_return: true,
        ..created()
    };
    let journal = Journal::default()
        .with(beyond)
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(failed(&[]));
    let is_beyond = |extent| {
        let records = fork(&journal.0, ForkReason::Fork, &plan(extent))
            .unwrap()
            .records;
        matches!(&records[0].body, Body::Created(created) if created.no_return)
    };
    assert!(is_beyond(ForkExtent::End));
    assert!(is_beyond(ForkExtent::Recovered));
    assert!(!is_beyond(before("a:0")));
    assert!(!is_beyond(ForkExtent::Beginning(None)));
}

#[test]
fn a_fork_beside_the_original_undoes_none_of_its_children() {
    let undoable = |location: &str| ChildStarted {
        undo: UndoMode::Undo,
        ..child(location, false)
    };
    let journal = Journal::created()
        .with(undoable("undone:0"))
        .with(child_finished("undone:0"))
        .with(UndoStarted {
            location: at("undone:0"),
            attempt: 1,
            run: Some(undoable("undone:0").run),
            ends_run: false,
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
    // The copy contains the undo that the original has begun.
    let expected = [UndoMode::Undo, UndoMode::None, UndoMode::None];
    assert_eq!(undos(ForkReason::Fork), expected);
    assert_eq!(undos(ForkReason::Restart), [UndoMode::Undo; 3]);
}
