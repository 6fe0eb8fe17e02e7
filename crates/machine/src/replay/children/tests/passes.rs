//! Children over several passes of the function: what a later pass takes over, starts again and
//! undoes.

use everstep_model::record::UndoCompleted;

use super::*;
use crate::replay::UndoState;

// B166
#[test]
fn a_later_pass_takes_over_the_outcome_of_a_child() {
    let mut run = Run::new();
    run.call(ship());
    run.commit(vec![]);
    let child = run.started_as();
    run.commit(vec![finished(&child, "1"), retried(), begun_again()]);
    let mut again = run.cold();
    let op = again.call(ship());
    assert_eq!(again.returned(), done(op, "1"));
    assert!(again.commit(vec![]).is_empty());
}

// B166
#[test]
fn a_later_pass_takes_over_a_child_that_completed_though_it_was_given_up() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.replay.drop_operation(op);
    run.commit(vec![]);
    let child = run.started_as();
    run.commit(vec![finished(&child, "1"), retried(), begun_again()]);
    let mut again = run.cold();
    let op = again.call(ship());
    assert_eq!(again.returned(), done(op, "1"));
    assert!(again.commit(vec![]).is_empty(), "no other is started");
}

#[test]
fn a_later_pass_starts_another_child_for_one_that_was_given_up() {
    let mut run = Run::new();
    let op = run.call(ship());
    run.replay.drop_operation(op);
    run.commit(vec![]);
    let first = run.started_as();
    run.commit(vec![retried(), begun_again()]);
    let mut again = run.cold();
    let op = again.call(ship());
    again.commit(vec![]);
    let second = again.started_as();
    assert_ne!(first, second);
    again.commit(vec![finished(&first, "1")]);
    assert_eq!(
        again.turn(),
        Turn::Idle,
        "the run does not wait for the first one"
    );
    again.commit(vec![finished(&second, "2")]);
    assert_eq!(again.returned(), done(op, "2"));
}

/// Undoes everything, and returns the children in the order in which they are undone.
fn undo_all(run: &mut Run) -> Vec<RunId> {
    run.replay.returned(Some("no"));
    assert_eq!(run.turn(), Turn::Idle);
    let reason = Failure::new(ErrorCode::WorkflowFailed, "no");
    run.replay.rollback().end_run(Some(reason));
    let first = run.replay.rollback().announce();
    run.commit(first.into_iter().collect());
    assert_eq!(run.turn(), Turn::Idle);
    let mut undone = Vec::new();
    while let Some(start) = run.replay.begin_undo() {
        run.replay.end_undo(&start, UndoEnd::Completed, NOW);
        run.commit(vec![]);
        assert_eq!(run.turn(), Turn::Idle);
        undone.extend(start.child);
    }
    undone
}

/// Creates a run whose second pass started another child where the first pass gave one up. Returns
/// it with both ids. The first child may have ended before.
fn started_anew(meanwhile: impl Fn(&RunId) -> Vec<Body>) -> (Run, RunId, RunId) {
    let undoable = || ChildCall {
        undo: UndoMode::Undo,
        ..ship()
    };
    let mut run = Run::new();
    let op = run.call(undoable());
    run.replay.drop_operation(op);
    run.commit(vec![]);
    let first = run.started_as();
    run.commit(vec![retried(), begun_again()]);
    let mut again = run.cold();
    again.commit(meanwhile(&first));
    assert_eq!(again.turn(), Turn::Idle);
    again.replay.set_access(Access::Allowed);
    again.call(undoable());
    again.commit(vec![]);
    let second = again.started_as();
    assert_ne!(first, second);
    (again, first, second)
}

#[test]
fn of_two_children_at_one_location_each_that_completed_is_undone() {
    let (mut run, first, second) = started_anew(|_| vec![]);
    run.commit(vec![finished(&second, "2"), finished(&first, "1")]);
    run.returned();
    assert_eq!(undo_all(&mut run), [first, second]);

    let (mut run, first, second) = started_anew(|first| vec![finished(first, "1")]);
    run.commit(vec![finished(&second, "2")]);
    run.returned();
    assert_eq!(undo_all(&mut run), [second, first]);

    let (mut run, _, second) = started_anew(|_| vec![]);
    run.commit(vec![finished(&second, "2")]);
    run.returned();
    assert_eq!(undo_all(&mut run), [second]);
}

#[test]
fn a_child_that_completes_while_another_at_its_location_is_undone_is_undone_next() {
    let (mut run, first, second) = started_anew(|_| vec![]);
    run.commit(vec![finished(&second, "2")]);
    run.returned();
    run.replay.returned(Some("no"));
    assert_eq!(run.turn(), Turn::Idle);
    let reason = Failure::new(ErrorCode::WorkflowFailed, "no");
    run.replay.rollback().end_run(Some(reason));
    let announced = run.replay.rollback().announce().unwrap();
    run.commit(vec![announced]);
    assert_eq!(run.turn(), Turn::Idle);
    let start = run.replay.begin_undo().unwrap();
    assert_eq!(start.child, Some(second));
    run.commit(vec![finished(&first, "1")]);
    assert_eq!(run.turn(), Turn::Idle);
    run.replay.end_undo(&start, UndoEnd::Completed, NOW);
    run.commit(vec![]);
    assert_eq!(run.turn(), Turn::Idle);
    let start = run.replay.begin_undo().unwrap();
    assert_eq!((start.child, start.output), (Some(first), Some(json("1"))));
}

#[test]
fn a_later_pass_that_names_the_same_child_gets_its_outcome() {
    let named = || ChildCall {
        id: Some(id("mine")),
        ..ship()
    };
    for ends_before in [true, false] {
        let mut run = Run::new();
        let op = run.call(named());
        run.replay.drop_operation(op);
        run.commit(vec![]);
        let end = || finished(&id("mine"), "1");
        let before = if ends_before { vec![end()] } else { vec![] };
        run.commit(before);
        run.commit(vec![retried(), begun_again()]);
        let mut again = run.cold();
        let op = again.call(named());
        if !ends_before {
            assert_eq!(again.turn(), Turn::Idle);
            again.commit(vec![end()]);
        }
        assert_eq!(again.returned(), done(op, "1"));
    }
}

#[test]
fn an_event_is_sent_once_over_all_passes() {
    let send = |run: &mut Run| {
        let site = CallSite::caller();
        let (to, event) = (id("other"), name("paid"));
        run.replay.write(
            &Scope::ROOT,
            Written::Send {
                to,
                event,
                payload: json("1"),
            },
            site,
        );
    };
    let mut run = Run::new();
    send(&mut run);
    assert_eq!(kinds(&run.commit(vec![retried(), begun_again()])), ["sent"]);
    let mut again = run.cold();
    send(&mut again);
    send(&mut again);
    assert_eq!(kinds(&again.commit(vec![])), ["sent"]);
}

#[test]
fn an_undo_without_a_run_belongs_to_the_child_at_its_location() {
    let mut run = Run::new();
    run.call(ChildCall {
        undo: UndoMode::Undo,
        ..ship()
    });
    run.commit(vec![]);
    let child = run.started_as();
    run.commit(vec![finished(&child, "1")]);
    run.returned();
    run.replay.returned(Some("no"));
    assert_eq!(run.turn(), Turn::Idle);
    let reason = Failure::new(ErrorCode::WorkflowFailed, "no");
    run.replay.rollback().end_run(Some(reason));
    let Some(Body::UndoStarted(mut started)) = run.replay.rollback().announce() else {
        panic!("nothing is undone");
    };
    started.run = None;
    let undone = UndoCompleted {
        location: started.location.clone(),
        attempt: 1,
        run: None,
    };
    run.commit(vec![started.into(), undone.into()]);
    assert_eq!(run.turn(), Turn::Idle);
    assert_eq!(run.replay.begin_undo(), None);
    assert_eq!(run.replay.status().rollback().state(), UndoState::Over);
}
