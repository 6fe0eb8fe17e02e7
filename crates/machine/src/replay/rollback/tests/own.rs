//! Rollbacks that the code requested and no longer awaits when it returns.

use super::*;

/// Creates a run whose code requested a rollback, dropped it, and returned.
fn returned(more: impl IntoIterator<Item = Body>, error: Option<&str>) -> Run {
    let mut run = with_two(more);
    let rollback = run.roll_back();
    run.replay.drop_operation(rollback);
    run.replay.set_access(Access::Allowed);
    run.replay.returned(error);
    run.fold_all();
    run
}

#[test]
fn a_rollback_that_the_code_requested_does_not_fix_the_final_status() {
    let undone = [undo_started("a:0", 1), undo_completed("a:0")];
    let mut run = returned(undone.clone(), None);
    assert!(!run.replay.status().rollback().is_ending_decided());
    // A request that arrives now still counts.
    run.append(cancel_requested(false));
    run.fold_all();
    assert!(run.replay.status().cancellation().is_some());
}

#[test]
fn a_requested_rollback_continues_after_the_code_has_returned() {
    let mut run = returned([], None);
    run.replay.rollback().end_run(None);
    assert!(run.replay.status().is_next_undo_own());
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.location, at("a:0"));
    run.replay.end_undo(&start, UndoEnd::Completed, NOW);
    assert_eq!(run.commit(), ["undo_started a:0", "undo_completed a:0"]);
    let start = run.replay.begin_undo().unwrap();
    run.replay.end_undo(&start, UndoEnd::Completed, NOW);
    run.commit();
    assert_eq!(run.replay.status().rollback().state(), UndoState::Over);
    assert!(!run.replay.status().rollback().is_ending_decided());
}

#[test]
fn later_results_are_undone_only_when_the_journal_fixes_the_final_status() {
    let late = [started("late:0", UndoMode::Undo), completed("late:0", "3")];
    let mut run = with_two(late);
    let rollback = run.roll_back();
    run.replay.drop_operation(rollback);
    run.call("late", UndoMode::Undo);
    assert!(matches!(run.turn(), Turn::Resolved(..)));
    run.end();
    assert!(!run.replay.status().is_next_undo_own());
    assert_eq!(run.replay.begin_undo(), None);
    let first = run.replay.rollback().announce().unwrap();
    assert_eq!(line(&first), "undo_started late:0");
    run.append(first);
    run.fold_all();
    assert!(run.replay.status().rollback().is_ending_decided());
}
