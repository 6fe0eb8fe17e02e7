//! Runs that operators pause or end, and runs that roll back.

use super::*;

#[test]
fn a_pausing_run_waits_for_steps_in_flight_only() {
    check(
        [
            started("a:0", 1).into(),
            failed_step("b:0", 1, FailureOutcome::Retrying).into(),
            sleeping("s:0").into(),
            pause().into(),
        ],
        RunStatus::Pausing,
        &[pause_requested_by_alice(), running("a:0", 1)],
        &format!(
            "{PAUSE_ASKED}; it executes step `a:0` (attempt 1) since 2026-11-15T08:00:01.000Z"
        ),
    );
}

#[test]
fn a_pausing_rollback_waits_only_for_the_undo_in_flight() {
    check(
        [undo_started(), pause().into()],
        RunStatus::Pausing,
        &[pause_requested_by_alice(), undoing(1, 1)],
        &format!("{PAUSE_ASKED}; {UNDOES} 2026-11-15T08:00:01.000Z"),
    );
    check(
        [undo_failed(), pause().into()],
        RunStatus::Pausing,
        &[pause_requested_by_alice()],
        PAUSE_ASKED,
    );
}

#[test]
fn a_paused_run_shows_author_and_reason() {
    let paused = Reason::Paused {
        by: alice(),
        reason: Some("maintenance".to_owned()),
    };
    check(
        [
            sleeping("s:0").into(),
            pause().into(),
            Paused { reason: None }.into(),
        ],
        RunStatus::Paused,
        &[paused],
        "it is paused by alice: maintenance",
    );
}

#[test]
fn a_paused_run_whose_end_was_requested_is_no_longer_paused() {
    check(
        [Paused { reason: None }.into(), cancel("no").into()],
        RunStatus::Cancelling,
        &[end_requested_by_alice()],
        END_ASKED,
    );
}

#[test]
fn a_run_parked_for_no_progress_shows_the_reason() {
    let message = "taken over 11 times without progress";
    let parked = Reason::Paused {
        by: None,
        reason: Some(message.to_owned()),
    };
    let reason = Some(Failure::new(ErrorCode::NoProgress, message));
    check(
        [started("a:0", 1).into(), Paused { reason }.into()],
        RunStatus::Paused,
        &[parked],
        "it is paused: taken over 11 times without progress",
    );
}

#[test]
fn a_cancelling_run_waits_for_steps_in_flight_only() {
    check(
        [
            started("a:0", 1).into(),
            failed_step("b:0", 1, FailureOutcome::Retrying).into(),
            waiting("w:0", &["yes"]).into(),
            cancel("no").into(),
        ],
        RunStatus::Cancelling,
        &[end_requested_by_alice(), running("a:0", 1)],
        &format!("{END_ASKED}; it executes step `a:0` (attempt 1) since 2026-11-15T08:00:01.000Z"),
    );
}

#[test]
fn a_cancelling_run_without_steps_in_flight_shows_only_the_request() {
    let request = CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    let reason = Reason::CancelRequested {
        by: None,
        reason: None,
        rollback: false,
    };
    check(
        [sleeping("s:0").into(), request.into()],
        RunStatus::Cancelling,
        &[reason],
        "it was asked to end",
    );
}

#[test]
fn a_cancelled_run_that_rolls_back_names_the_undo() {
    check(
        [cancel("no").into(), undo_started()],
        RunStatus::RollingBack,
        &[end_requested_by_alice(), undoing(1, 2)],
        &format!("{END_ASKED}; {UNDOES} 2026-11-15T08:00:02.000Z"),
    );
    check(
        [cancel("no").into(), undo_started(), undo_failed()],
        RunStatus::RollingBack,
        &[end_requested_by_alice(), undo_retry()],
        &format!("{END_ASKED}; {RETRIES_UNDO}"),
    );
}

#[test]
fn a_rollback_shows_the_undo_in_flight() {
    check(
        [undo_started()],
        RunStatus::RollingBack,
        &[undoing(1, 1)],
        &format!("{UNDOES} 2026-11-15T08:00:01.000Z"),
    );
    let due = fired(TimerPurpose::Undo, Some("a:0"), time(50));
    check(
        [undo_failed(), due.into()],
        RunStatus::RollingBack,
        &[undoing(2, 2)],
        "it undoes step `a:0` (attempt 2) since 2026-11-15T08:00:02.000Z",
    );
}

#[test]
fn a_rollback_shows_when_an_undo_is_retried() {
    check(
        [undo_started(), undo_failed()],
        RunStatus::RollingBack,
        &[undo_retry()],
        RETRIES_UNDO,
    );
}

#[test]
fn a_rollback_between_two_undos_is_held_by_nothing() {
    let undone = UndoCompleted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    };
    check(
        [
            completed_step("a:0", 1, "1").into(),
            undo_started(),
            undone.into(),
        ],
        RunStatus::RollingBack,
        &[],
        "nothing holds it up",
    );
}

#[test]
fn a_rollback_after_a_deadline_shows_the_deadline_and_what_is_in_flight() {
    let passed = DeadlinePassed { deadline: time(9) };
    check(
        [started("b:0", 1).into(), passed.into(), undo_started()],
        RunStatus::RollingBack,
        &[
            Reason::DeadlinePassed { deadline: time(9) },
            undoing(1, 3),
            running("b:0", 1),
        ],
        &format!(
            "it passed its deadline, 2026-11-15T08:00:09.000Z; {UNDOES} 2026-11-15T08:00:03.000Z; \
             it executes step `b:0` (attempt 1) since 2026-11-15T08:00:01.000Z"
        ),
    );
}
