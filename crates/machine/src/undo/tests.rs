//! Tests of the fold of undos.

use everstep_model::record::{
    IterationRange, LoopAdvanced, StepSkipped, StepStarted, UndoCompleted, UndoFailed, UndoSkipped,
    UndoStarted,
};
use everstep_model::{Body, RunId, Scope, StepOptions, UndoMode};

use super::*;
use everstep_samples::*;

fn undoable(location: &str) -> [Body; 2] {
    let options = StepOptions {
        undo: UndoMode::Undo,
        ..StepOptions::default()
    };
    let started = StepStarted {
        options: Some(options),
        ..started(location, 1)
    };
    [started.into(), completed_step(location, 1, "1").into()]
}

fn undone(location: &str, run: Option<&str>) -> Body {
    UndoCompleted {
        location: at(location),
        attempt: 1,
        run: run.map(|run| RunId::new(run).unwrap()),
    }
    .into()
}

fn folded(bodies: impl IntoIterator<Item = Body>) -> UndoFold {
    let mut undos = UndoFold::default();
    for body in bodies {
        undos.fold(&body);
    }
    undos
}

#[test]
fn a_rollback_is_over_when_nothing_is_left_to_undo() {
    let mut two = folded([undoable("a:0"), undoable("b:0")].concat());
    assert!(!two.is_rolling_back);
    two.fold(&undone("b:0", None));
    assert!(two.is_rolling_back);
    two.fold(&cancel("stop").into());
    assert!(two.is_rolling_back, "a request does not end the rollback");
    two.fold(&undone("a:0", None));
    assert!(!two.is_rolling_back);
}

// B772
#[test]
fn a_fold_without_arguments_knows_what_is_done_but_no_results_of_it() {
    let [first, second] = ["a:0", "b:0"].map(undoable);
    let mut undos = folded(first);
    undos.forget_arguments();
    second.iter().for_each(|body| undos.fold(body));
    let known = undos.done.iter();
    let known = known.map(|done| (done.what.location.clone(), done.output.clone()));
    let expected = [(at("a:0"), None), (at("b:0"), None)];
    assert_eq!(known.collect::<Vec<_>>(), expected);
    undos.fold(&undone("b:0", None));
    assert!(undos.is_rolling_back);
    undos.fold(&undone("a:0", None));
    assert!(!undos.is_rolling_back);
}

#[test]
fn a_rollback_whose_undo_failed_for_good_is_over() {
    let failed = |retry_at| UndoFailed {
        location: at("a:0"),
        attempt: 1,
        error: failure("refused"),
        retry_at,
        run: None,
    };
    let undoing = UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
        ends_run: false,
    };
    let mut one = folded(undoable("a:0"));
    one.fold(&undoing.into());
    one.fold(&failed(Some(time(50))).into());
    assert!(one.is_rolling_back);
    one.fold(&failed(None).into());
    assert!(!one.is_rolling_back);
}

#[test]
fn the_first_request_to_end_outside_of_a_rollback_ends_a_pause() {
    let request: Body = cancel("stop").into();
    let mut run = folded(undoable("a:0"));
    assert!(run.ends_pause(&request) && !run.ends_pause(&event("go").into()));
    run.fold(
        &UndoStarted {
            location: at("a:0"),
            attempt: 1,
            run: None,
            ends_run: false,
        }
        .into(),
    );
    assert!(!run.ends_pause(&request), "it rolls back");
    run.fold(&undone("a:0", None));
    assert!(run.ends_pause(&request));
    run.fold(&request);
    assert!(!run.ends_pause(&request), "the end was requested before");
}

#[test]
fn of_two_children_at_one_location_each_is_undone() {
    let journal = two_children("ship:0").0;
    let mut two = folded(journal.into_iter().map(|entry| entry.record.body));
    two.fold(&undone("ship:0", Some("ship-2")));
    assert!(two.is_rolling_back);
    two.fold(&undone("ship:0", Some("ship-1")));
    assert!(!two.is_rolling_back);
}

#[test]
fn calls_in_dropped_iterations_are_forgotten() {
    let [started, _] = undoable("each/~1/a:0");
    let [kept, _] = undoable("each/~2/a:0");
    let mut left = folded([started, kept]);
    left.fold(
        &LoopAdvanced {
            gone: vec![IterationRange { first: 0, last: 1 }],
            ..advanced("each:0", 2, false, &[(1, 3)])
        }
        .into(),
    );
    let called: Vec<_> = left.called().collect();
    assert_eq!(called, [&Subject::step(&at("each/~2/a:0"))]);
}

#[test]
fn done_steps_keep_their_order_until_they_are_undone_or_skipped() {
    let steps = ["a:0", "b:0", "c:0"].map(undoable).concat();
    let mut three = folded(steps);
    let done = |undos: &UndoFold| -> Vec<_> {
        let done = undos.done.iter();
        done.map(|done| done.what.location.to_string()).collect()
    };
    assert_eq!(done(&three), ["a:0", "b:0", "c:0"]);
    three.fold(&undone("c:0", None));
    three.fold(
        &UndoSkipped {
            location: at("b:0"),
            run: None,
            ends_run: false,
        }
        .into(),
    );
    assert_eq!(done(&three), ["a:0"]);
    let is_undone = |location: &str| three.is_undone(&Subject::step(&at(location)));
    assert_eq!(["a:0", "b:0", "c:0"].map(is_undone), [false, false, true]);
}

#[test]
fn equality_does_not_depend_on_entries_that_were_dropped() {
    let later = || {
        undoable("a:0")
            .into_iter()
            .chain([dropping_first_iteration()])
    };
    let with_dropped = folded(undoable("each/~0/b:0").into_iter().chain(later()));
    assert_eq!(with_dropped, folded(later()));
}

fn dropping_first_iteration() -> Body {
    LoopAdvanced {
        gone: vec![IterationRange { first: 0, last: 0 }],
        ..advanced("each:0", 1, false, &[(1, 2)])
    }
    .into()
}

#[test]
fn steps_without_an_undo_and_skipped_steps_are_not_in_the_fold() {
    let [plain, completed] = [
        started("a:0", 1).into(),
        completed_step("a:0", 1, "1").into(),
    ];
    let [undoable, _] = undoable("b:0");
    let skipped = StepSkipped {
        location: at("b:0"),
        result: json("1"),
        by: None,
        so_far: None,
    };
    let undos = folded([plain, completed, undoable, skipped.into()]);
    assert!(undos.done.is_empty());
    assert!(!undos.has_live_in(&Scope::ROOT));
}
