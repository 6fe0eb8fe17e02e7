//! Rollbacks of the code's own that nobody awaits any more when it returns.

use super::*;

/// Returns the code asked for a rollback, gave it up, and returned.
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
fn what_the_code_asked_for_itself_does_not_decide_as_what_the_run_ends() {
    let undone = [undo_started("a:0", 1), undo_completed("a:0")];
    let mut run = returned(undone.clone(), None);
    assert!(!run.replay.status().rollback().is_ending_decided());
    // So a request that comes now still counts.
    run.append(cancel_requested(false));
    run.fold_all();
    assert!(run.replay.status().cancellation().is_some());
}

#[test]
fn it_goes_on_after_the_code_has_returned() {
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
fn what_was_done_since_is_undone_only_when_the_journal_says_as_what_the_run_ends() {
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
