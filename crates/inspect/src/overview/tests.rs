//! Tests of the overview. The properties hold for any sequence of records, valid or not.

mod properties;
mod status;
mod waiting;

use everstep_model::record::*;
use everstep_model::{Body, Entry, Name, RecordNumber, RunStatus, StepOptions, StepStatus};
use proptest::prelude::*;

use super::*;
use crate::tests::*;

fn statuses(overview: &Overview) -> Vec<StepStatus> {
    overview.steps.iter().map(|step| step.status).collect()
}

// B22
#[test]
fn a_sensitive_step_shows_its_errors_and_not_its_result() {
    let options = StepOptions {
        sensitive: true,
        ..StepOptions::default()
    };
    let secret = StepStarted {
        options: Some(options),
        ..started("a:0", 1)
    };
    let journal =
        Journal::created()
            .with(secret)
            .with(failed_step("a:0", 1, FailureOutcome::Retrying));
    let message = |overview: &Overview| {
        overview.steps[0]
            .error
            .as_ref()
            .map(|error| error.message.clone())
    };
    assert_eq!(
        message(&journal.overview()).as_deref(),
        Some("gateway down")
    );
    let overview = journal.with(completed_step("a:0", 2, "\"pin\"")).overview();
    assert_eq!(
        (overview.steps[0].sensitive, &overview.steps[0].result),
        (true, &None)
    );

    let unannounced = StepCompleted {
        sensitive: true,
        ..completed_step("a:0", 1, "\"pin\"")
    };
    let overview = Journal::created().with(unannounced).overview();
    assert_eq!(
        (overview.steps[0].sensitive, &overview.steps[0].result),
        (true, &None)
    );
}

// B183
#[test]
fn operators_change_only_steps_without_an_outcome() {
    let forced = |location: &str| ForcedFailure {
        so_far: None,
        location: Some(at(location)),
        error: failure("forced"),
        by: None,
    };
    let overview = Journal::created()
        .with(started("skipped:0", 1))
        .with(StepSkipped {
            so_far: None,
            location: at("skipped:0"),
            result: json("1"),
            by: None,
        })
        .with(StepEdited {
            so_far: None,
            location: at("skipped:0"),
            result: json("2"),
            by: None,
        })
        .with(StepEdited {
            so_far: None,
            location: at("edited:0"),
            result: json("3"),
            by: None,
        })
        .with(started("forced:0", 1))
        .with(forced("forced:0"))
        .with(completed_step("forced:0", 1, "4"))
        .with(waiting("w:0", &["e"]))
        .with(forced("w:0"))
        .overview();
    use StepStatus::{Completed, Failed, Skipped};
    assert_eq!(statuses(&overview), [Skipped, Completed, Failed]);
    assert_eq!(overview.steps[0].result, Some(json("1")));
    assert!(overview.waits.is_empty());
}

#[test]
fn the_end_abandons_steps_without_an_outcome() {
    let overview = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(started("b:0", 1))
        .with(failed_step("c:0", 1, FailureOutcome::Retrying))
        .with(event("unread"))
        .with(terminated(&["b:0", "never-written:0"]))
        .overview();
    use StepStatus::{Abandoned, Completed};
    assert_eq!(
        statuses(&overview),
        [Completed, Abandoned, Abandoned, Abandoned]
    );
    assert_eq!(
        (overview.status(), overview.completed_at),
        (RunStatus::Terminated, Some(time(5)))
    );
    assert_eq!(overview.reason.as_deref(), Some("stop"));
    assert_eq!(overview.events.len(), 1);
}

// B206
#[test]
fn undone_steps_are_marked_and_code_that_goes_forward_ends_the_rollback() {
    let undoing = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(UndoStarted {
            location: at("a:0"),
            attempt: 1,
            run: None,
            ends_run: true,
        });
    assert_eq!(undoing.overview().status(), RunStatus::RollingBack);
    let undone = undoing.with(UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    });
    assert_eq!(undone.overview().status(), RunStatus::RollingBack);
    assert_eq!(statuses(&undone.overview()), [StepStatus::Undone]);
    assert_eq!(
        undone.with(started("b:0", 1)).overview().status(),
        RunStatus::Running
    );
}

// B772
#[test]
fn an_operation_that_an_earlier_pass_dropped_is_open_again_in_a_later_pass() {
    let timed_out = TimerFired {
        purpose: TimerPurpose::Wait,
        location: Some(at("w:0")),
        due: time(500),
    };
    let journal = Journal::created()
        .with(waiting("w:0", &["e"]))
        .with(timed_out)
        .with(waiting("w:0", &["e"]));
    assert_eq!(journal.overview().status(), RunStatus::Waiting);
    assert_eq!(journal.overview().waits.len(), 1);
}

// B726
#[test]
fn a_rollback_that_the_code_requested_is_over_when_nothing_is_left_to_undo() {
    let undo = |ends_run| UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
        ends_run,
    };
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    };
    for (ends_run, status) in [(false, RunStatus::Waiting), (true, RunStatus::RollingBack)] {
        let journal = Journal::created()
            .with(completed_step("a:0", 1, "1"))
            .with(waiting("w:0", &["e"]))
            .with(undo(ends_run))
            .with(undone.clone());
        assert_eq!(journal.overview().status(), status);
        assert_eq!(journal.overview().is_ending(), ends_run);
    }
}

#[test]
fn a_failed_undo_is_retried_when_its_own_timer_fires() {
    let undo_failed = UndoFailed {
        location: at("a:0"),
        attempt: 1,
        error: failure("refund refused"),
        retry_at: Some(time(50)),
        run: None,
    };
    let journal = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(undo_failed.clone());
    let after = |location, due| {
        journal
            .clone()
            .with(fired(TimerPurpose::Undo, Some(location), due))
            .overview()
    };
    for waits in [
        journal.overview(),
        after("a:0", time(49)),
        after("b:0", time(50)),
    ] {
        assert!(matches!(
            waits.rollback,
            Some(RollbackView::Retrying { attempt: 1, .. })
        ));
        assert_eq!(statuses(&waits), [StepStatus::Completed]);
    }
    let goes_on = after("a:0", time(50));
    assert!(matches!(
        goes_on.rollback,
        Some(RollbackView::Undoing { attempt: 2, .. })
    ));
    assert_eq!(statuses(&goes_on), [StepStatus::Completed]);

    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 2,
        run: None,
    };
    let late = journal.clone().with(undone).with(undo_failed).overview();
    assert_eq!(late.rollback, Some(RollbackView::Between));
    assert_eq!(statuses(&late), [StepStatus::Undone]);
}

// B203
#[test]
fn an_overview_has_workflow_steps_and_times() {
    let overview = Journal::created()
        .with(started("a:0", 1))
        .with(completed_step("a:0", 1, "1"))
        .with(completed())
        .overview();
    assert_eq!(
        overview.workflow.as_ref().map(Name::as_str),
        Some("payment")
    );
    assert_eq!(
        (
            overview.version,
            overview.execution_attempt,
            overview.records
        ),
        (2, 1, 4)
    );
    assert_eq!(overview.created_at, Some(time(0)));
    assert_eq!(overview.updated_at, Some(time(3)));
    assert_eq!(overview.completed_at, Some(time(3)));
    assert_eq!(overview.result, Some(json("\"done\"")));
    assert_eq!(overview.steps[0].completed_at, Some(time(2)));
}

// B24
#[test]
fn the_first_input_is_kept() {
    let second = Created {
        input: json("\"other\""),
        version: 3,
        ..created()
    };
    let overview = Journal::created().with(second).overview();
    assert_eq!(
        (overview.version, overview.input),
        (2, Some(json("{\"amount\":5}")))
    );
}

// B772
#[test]
fn an_overview_that_forgets_what_is_over_keeps_no_results_of_undoable_steps() {
    let mut begun = started("a:0", 1);
    begun.options = Some(StepOptions {
        undo: everstep_model::UndoMode::Undo,
        ..StepOptions::default()
    });
    let journal = Journal::created()
        .with(begun)
        .with(completed_step("a:0", 1, "424242"));
    let mut overview = journal.overview();
    assert!(format!("{overview:?}").contains("424242"));
    overview.forget_ended_operations();
    assert!(!format!("{overview:?}").contains("424242"));
}
