//! The records that a recovery keeps.

use everstep_model::record::{
    BranchCompleted, BranchFailed, Cancelled, FailureOutcome, ForkReason, RollbackFailed,
    TimerPurpose, UndoCompleted, UndoFailed, UndoStarted,
};
use everstep_model::{Body, Generation, RunId, RunStatus};

use super::super::tests::samples::*;
use super::super::{CannotFork, ForkExtent, fork};
use everstep_samples::*;

#[test]
fn a_step_that_was_undone_after_the_failure_is_repeated_with_a_new_key() {
    let undone = UndoCompleted {
        location: at("fallback:0"),
        attempt: 1,
        run: None,
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
fn a_recovered_run_repeats_the_failed_step() {
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
    // Inbox records after the failure are kept.
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
    for (journal, reason) in [
        (running, CannotFork::NotEnded),
        (completed, CannotFork::WrongStatus(RunStatus::Completed)),
    ] {
        let refused = Err(reason);
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
fn the_reaction_of_the_code_to_the_failure_is_not_kept() {
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
fn a_cancelled_run_is_recovered_without_the_cancellation() {
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

// Records of the code are written after inbox records that arrived in the same poll.
#[test]
fn records_written_before_the_code_saw_its_end_are_kept() {
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

// B875
#[test]
fn what_other_branches_did_while_a_cancellation_waited_is_kept() {
    let journal = Journal::created()
        .with(no_return("play:0"))
        .with(started("b:0", 1))
        .with(cancel("while it plays"))
        .with(completed_step("b:0", 1, "1"))
        .with(note("sent:0"))
        .with(completed_step("play:0", 1, "2"))
        .with(note("after:0"))
        .with(Cancelled {
            reason: None,
            rolled_back: false,
            abandoned: Vec::new(),
        });
    let kept = [
        "created",
        "step_started play:0",
        "step_started b:0",
        "step_completed b:0",
        "note sent:0",
        "step_completed play:0",
    ];
    assert_eq!(copied(&journal, ForkExtent::Recovered), kept);
    assert_eq!(copied(&journal, ForkExtent::End), kept);
}

// B875
#[test]
fn a_run_that_is_terminated_while_a_cancellation_waits_keeps_everything() {
    let journal = Journal::created()
        .with(no_return("play:0"))
        .with(cancel("while it plays"))
        .with(note("sent:0"))
        .with(terminated(&["play:0"]));
    let kept = ["created", "step_started play:0", "note sent:0"];
    assert_eq!(copied(&journal, ForkExtent::Recovered), kept);
}

/// `a` and `b` done, `c` failed, `b` undone; `a` could not be undone.
fn rolled_back_half() -> Journal {
    let undo_failed = |attempt, retry_at| UndoFailed {
        location: at("a:0"),
        attempt,
        error: failure("no refund"),
        retry_at,
        run: None,
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
            run: None,
            ends_run: false,
        })
        .with(UndoCompleted {
            location: at("b:0"),
            attempt: 1,
            run: None,
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
fn undone_steps_are_repeated_with_new_keys() {
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
fn of_two_children_at_one_location_only_the_failed_undo_is_retried() {
    let [first, second] = ["ship-1", "ship-2"].map(id);
    let location = || at("ship:0");
    let undo_failed = |run: &RunId, retry_at: Option<u64>| UndoFailed {
        location: location(),
        attempt: 1,
        error: failure("refused"),
        retry_at: retry_at.map(time),
        run: Some(run.clone()),
    };
    let undo_started = |run: &RunId, attempt| UndoStarted {
        location: location(),
        attempt,
        run: Some(run.clone()),
        ends_run: false,
    };
    let journal = two_children("ship:0")
        .with(undo_started(&second, 1))
        .with(undo_failed(&second, Some(50)))
        .with(fired(TimerPurpose::Undo, Some("ship:0"), time(50)))
        .with(undo_started(&second, 2))
        .with(UndoCompleted {
            location: location(),
            attempt: 2,
            run: Some(second.clone()),
        })
        .with(undo_started(&first, 1))
        .with(undo_failed(&first, Some(70)))
        .with(fired(TimerPurpose::Undo, Some("ship:0"), time(70)))
        .with(undo_failed(&first, None))
        .with(RollbackFailed {
            error: failure("no"),
            rollback_error: failure("refused"),
            abandoned: Vec::new(),
        });
    let kept = copied(&journal, ForkExtent::RollbackRetried);
    let children = two_children("ship:0").0.len();
    assert_eq!(
        kept[children..],
        [
            "undo_started ship:0",
            "undo_failed ship:0",
            "timer_fired ship:0",
            "undo_started ship:0",
            "undo_completed ship:0"
        ]
    );
    // The child of the earlier pass at that location was not undone, and stays.
    let recovered = copied(&journal, ForkExtent::Recovered);
    assert_eq!(recovered.last().unwrap(), "child_finished ship:0");
    assert_eq!(recovered.len(), children - 2);
}
