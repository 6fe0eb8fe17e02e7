//! Claims about the reader's fold. The properties hold for any sequence of records, sensible or not.

use everstep_model::record::*;
use everstep_model::{Body, RecordNumber, RunStatus, StepOptions, StepStatus};
use proptest::prelude::*;

use super::random::*;
use super::samples::*;
use super::*;

fn statuses(overview: &Overview) -> Vec<StepStatus> {
    overview.steps.iter().map(|step| step.status).collect()
}

/// Everything but the length of the journal.
fn without_length(mut overview: Overview) -> Overview {
    overview.records = 0;
    overview
}

proptest! {
    #[test]
    fn any_sequence_of_records_has_a_meaning(journal in any_journal(), numbers in any::<[u64; 4]>()) {
        // Numbers out of order do not happen; should they, the fold still answers.
        let mut entries = journal.0;
        for (entry, number) in entries.iter_mut().rev().zip(numbers) {
            entry.number = RecordNumber(number);
        }
        let overview = Overview::of(&entries);
        let _ = overview.status();
    }

    #[test]
    fn reading_on_equals_reading_at_once(journal in any_journal(), cut in any::<prop::sample::Index>()) {
        let (before, after) = journal.0.split_at(cut.index(journal.0.len() + 1));
        let mut overview = Overview::of(before);
        for entry in after {
            overview.fold(entry);
        }
        prop_assert_eq!(overview, journal.overview());
    }

    #[test]
    fn after_the_end_nothing_changes(journal in any_journal(), more in proptest::collection::vec(any_body(), 0..10)) {
        let ended = journal.with(completed());
        let before = ended.overview();
        prop_assert!(before.status().is_terminal());
        prop_assert!(before.waits.is_empty() && before.sleeps.is_empty() && before.rpcs.is_empty());
        let after = ended.with_all(more).overview();
        prop_assert_eq!(without_length(before), without_length(after));
    }

    #[test]
    fn a_settled_step_keeps_its_first_outcome(journal in any_open_journal(), later in any_body()) {
        let before = journal.overview();
        let after = journal.with(later.clone()).overview();
        for step in &before.steps {
            let is_settled = matches!(step.status, StepStatus::Completed | StepStatus::Skipped);
            let (true, Some(now)) = (is_settled, after.step(&step.location)) else { continue };
            prop_assert_eq!(&now.result, &step.result);
            prop_assert_eq!(now.completed_at, step.completed_at);
            let is_undone = matches!(&later, Body::UndoCompleted(_)) && now.status == StepStatus::Undone;
            prop_assert!(now.status == step.status || is_undone);
        }
    }

    #[test]
    fn of_two_records_that_settle_a_step_the_first_wins(first in 0..7usize, second in 0..7usize) {
        let before = Journal::created().with(started("a:0", 1)).with(settling(first));
        let after = before.clone().with(settling(second));
        prop_assert_eq!(before.overview().steps, after.overview().steps);
    }

    #[test]
    fn of_two_records_that_end_a_run_the_first_wins(first in 0..8usize, second in 0..8usize) {
        let before = Journal::created().with(ending(first));
        let after = before.clone().with(ending(second)).overview();
        let before = before.overview();
        // What is about to end a run can be overtaken by its end, and by nothing else.
        prop_assert_eq!(&before.ending, &after.ending);
        prop_assert!(before.end.is_none() || before.end == after.end);
    }

    #[test]
    fn every_step_is_found_by_its_place_and_counted(journal in any_journal()) {
        let overview = journal.overview();
        for step in &overview.steps {
            prop_assert_eq!(overview.step(&step.location), Some(step));
        }
        let count = |status| overview.steps.iter().filter(|step| step.status == status).count();
        prop_assert_eq!(overview.in_flight, count(StepStatus::Running));
        prop_assert_eq!(overview.in_backoff, count(StepStatus::Retrying));
    }

    #[test]
    fn at_most_one_operation_is_open_at_a_place(journal in any_journal()) {
        let overview = journal.overview();
        let mut open: Vec<_> = overview.waits.iter().map(|wait| &wait.location)
            .chain(overview.sleeps.iter().map(|sleep| &sleep.location))
            .chain(overview.rpcs.iter().map(|rpc| &rpc.location))
            .chain(overview.children.iter().map(|child| &child.location))
            .chain(overview.steps.iter().map(|step| &step.location))
            .collect();
        let all = open.len();
        open.sort();
        open.dedup();
        prop_assert_eq!(open.len(), all);
    }

    // B69
    #[test]
    fn events_stay_in_order_until_a_wait_takes_them(journal in any_journal()) {
        let overview = journal.overview();
        let numbers: Vec<_> = overview.events.iter().map(|event| event.number).collect();
        prop_assert!(numbers.is_sorted());
        for entry in &journal.0 {
            if let Body::WaitCompleted(taken) = &entry.record.body {
                let is_left = |number| numbers.contains(number) && *number < entry.number;
                prop_assert!(overview.end.is_some() || !taken.events.iter().any(is_left));
            }
        }
    }

    #[test]
    fn no_sensitive_result_is_shown(journal in any_journal()) {
        let overview = journal.overview();
        prop_assert!(overview.steps.iter().all(|step| !step.sensitive || step.result.is_none()));
    }

    #[test]
    fn a_dropped_iteration_leaves_what_a_later_reader_sees(rounds in 1u64..6, kept in 0u64..3) {
        let (journal, dropped) = compacted_loop(rounds, kept);
        let is_dropped = |entry: &Entry| {
            dropped.iter().any(|(first, last)| (*first..=*last).contains(&entry.number.0))
        };
        let mut later = journal.clone();
        later.0.retain(|entry| !is_dropped(entry));
        prop_assert_eq!(journal.overview(), later.overview());
    }
}

/// The records that give a step its outcome.
fn settling(which: usize) -> Body {
    let location = at("a:0");
    match which {
        0 => completed_step("a:0", 1, "1").into(),
        1 => failed_step("a:0", 1, FailureOutcome::Exhausted).into(),
        2 => failed_step("a:0", 1, FailureOutcome::TimedOut).into(),
        3 => StepAbandoned {
            location,
            so_far: None,
        }
        .into(),
        4 => StepSkipped {
            location,
            result: json("4"),
            by: None,
            so_far: None,
        }
        .into(),
        5 => StepEdited {
            location,
            result: json("5"),
            by: None,
            so_far: None,
        }
        .into(),
        _ => ForcedFailure {
            location: Some(location),
            error: failure("forced"),
            by: None,
            so_far: None,
        }
        .into(),
    }
}

/// The records that end a run, or make sure that it will.
fn ending(which: usize) -> Body {
    match which {
        0 => cancel("no").into(),
        1 => DeadlinePassed { deadline: time(9) }.into(),
        2 => ForcedFailure {
            location: None,
            error: failure("forced"),
            by: None,
            so_far: None,
        }
        .into(),
        3 => completed().into(),
        4 => terminated(&[]).into(),
        5 => Failed {
            error: failure("f"),
            rolled_back: false,
            abandoned: Vec::new(),
            caused_by: Vec::new(),
        }
        .into(),
        6 => RollbackFailed {
            error: failure("f"),
            rollback_error: failure("r"),
            abandoned: Vec::new(),
        }
        .into(),
        _ => Cancelled {
            reason: None,
            rolled_back: false,
            abandoned: Vec::new(),
        }
        .into(),
    }
}

/// A loop whose iterations take an event, sleep and run a step, with all but the last `kept` dropped.
fn compacted_loop(rounds: u64, kept: u64) -> (Journal, Vec<(u64, u64)>) {
    let mut journal = Journal::created().with(started("before:0", 1));
    let (mut ranges, mut dropped) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let first = journal.0.len() as u64;
        let place = |operation: &str| format!("each/~{round}/{operation}:0");
        journal = journal
            .with(event("go"))
            .with(waiting(&place("go"), &["go"]))
            .with(took(&place("go"), &[first]))
            .with(started(&place("work"), 1))
            .with(completed_step(&place("work"), 1, "1"))
            .with(sleeping(&place("rest")))
            .with(fired(TimerPurpose::Sleep, Some(&place("rest")), time(200)));
        ranges.push((first, first + 6));
        let old = ranges.len().saturating_sub(kept as usize);
        let now: Vec<_> = ranges.drain(..old).collect();
        journal = journal.with(advanced("each:0", round + 1, false, &now));
        dropped.extend(now);
    }
    (journal.with(started("after:0", 1)), dropped)
}

fn check_status(bodies: impl IntoIterator<Item = Body>, expected: RunStatus) {
    let journal = Journal::created().with_all(bodies);
    let kinds: Vec<_> = journal
        .0
        .iter()
        .map(|entry| entry.record.body.type_name())
        .collect();
    assert_eq!(journal.overview().status(), expected, "{kinds:?}");
}

#[test]
fn a_run_is_queued_until_an_executor_writes() {
    check_status([], RunStatus::Queued);
    check_status([event("early").into()], RunStatus::Queued);
    check_status(
        [Note {
            location: at("__note:0"),
            text: String::new(),
        }
        .into()],
        RunStatus::Running,
    );
}

#[test]
fn what_a_run_rests_on_is_its_status() {
    let retrying = failed_step("a:0", 1, FailureOutcome::Retrying);
    check_status([sleeping("s:0").into()], RunStatus::Sleeping);
    check_status(
        [sleeping("s:0").into(), retrying.clone().into()],
        RunStatus::Retrying,
    );
    check_status(
        [retrying.clone().into(), waiting("w:0", &["e"]).into()],
        RunStatus::Waiting,
    );
    check_status(
        [asked("q:0", "rpc_1").into(), sleeping("s:0").into()],
        RunStatus::Waiting,
    );
    check_status([child("c:0", false).into()], RunStatus::Waiting);
    check_status([child("c:0", true).into()], RunStatus::Running);
    check_status(
        [waiting("w:0", &["e"]).into(), started("a:0", 1).into()],
        RunStatus::Running,
    );
}

// B27
#[test]
fn a_step_in_backoff_makes_the_run_retrying_until_its_timer_fires() {
    let failed = failed_step("a:0", 1, FailureOutcome::Retrying);
    let due = fired(TimerPurpose::Retry, Some("a:0"), time(100));
    check_status([failed.clone().into()], RunStatus::Retrying);
    check_status(
        [failed.clone().into(), due.clone().into()],
        RunStatus::Running,
    );
    let overview = Journal::created()
        .with(failed)
        .with(due)
        .with(started("a:0", 2))
        .overview();
    let step = overview.step(&at("a:0")).unwrap();
    assert_eq!(
        (step.attempts, step.next_retry_at, step.started_at),
        (2, None, Some(time(3)))
    );
}

#[test]
fn a_timer_of_an_earlier_retry_says_nothing_about_the_next() {
    let next = StepFailed {
        retry_at: Some(time(150)),
        ..failed_step("a:0", 2, FailureOutcome::Retrying)
    };
    let journal = Journal::created().with(next);
    let stale = fired(TimerPurpose::Retry, Some("a:0"), time(100));
    assert_eq!(
        journal.clone().with(stale).overview().status(),
        RunStatus::Retrying
    );
    let due = fired(TimerPurpose::Retry, Some("a:0"), time(150));
    assert_eq!(journal.with(due).overview().status(), RunStatus::Running);
    let stale = fired(TimerPurpose::ExecutionRetry, None, time(299));
    check_status(
        [execution_retried(1).into(), stale.into()],
        RunStatus::Retrying,
    );
}

#[test]
fn a_child_does_not_open_where_something_else_is_open_in_a_later_pass() {
    let overview = Journal::created()
        .with(execution_retried(1))
        .with(waiting("a:0", &["e"]))
        .with(child("a:0", false))
        .overview();
    assert_eq!((overview.waits.len(), overview.children.len()), (1, 0));
}

// B40
#[test]
fn a_run_that_failed_as_a_whole_is_retrying_whatever_is_open() {
    let open = [waiting("w:0", &["e"]).into(), execution_retried(1).into()];
    check_status(open.clone(), RunStatus::Retrying);
    let timer = fired(TimerPurpose::ExecutionRetry, None, time(300));
    let overview = Journal::created().with_all(open).with(timer).overview();
    assert_eq!(overview.status(), RunStatus::Waiting);
    assert_eq!(overview.execution_attempt, 2);
}

// B40
#[test]
fn the_next_attempt_of_a_run_runs_failed_steps_again_and_keeps_completed_ones() {
    let overview = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(failed_step("b:0", 1, FailureOutcome::Fatal))
        .with(execution_retried(1))
        .with(fired(TimerPurpose::Retry, Some("b:0"), time(100)))
        .with(completed_step("a:0", 2, "2"))
        .with(started("b:0", 2))
        .overview();
    assert_eq!(
        statuses(&overview),
        [StepStatus::Completed, StepStatus::Running]
    );
    assert_eq!(overview.steps[0].result, Some(json("1")));
    assert_eq!(overview.steps[1].attempts, 2);
}

// B148
#[test]
fn a_pause_is_pausing_then_paused_until_it_is_resumed() {
    let resume = ResumeRequested { by: None };
    let paused = Paused { reason: None };
    check_status([pause().into()], RunStatus::Pausing);
    check_status(
        [pause().into(), paused.clone().into(), pause().into()],
        RunStatus::Paused,
    );
    check_status([pause().into(), resume.clone().into()], RunStatus::Queued);
    check_status(
        [pause().into(), paused.into(), resume.into()],
        RunStatus::Running,
    );
}

// B144
#[test]
fn a_run_paused_in_its_rollback_stays_so_whatever_else_asks_it_to_end() {
    let undoing = || {
        let location = at("a:0");
        UndoStarted {
            location,
            attempt: 1,
            run: None,
        }
    };
    let forced = ForcedFailure {
        location: None,
        error: failure("enough"),
        by: None,
        so_far: None,
    };
    for end in [cancel("stop").into(), Body::from(forced)] {
        let asked = [undoing().into(), pause().into(), end.clone()];
        check_status(asked, RunStatus::Pausing);
        let rests = Paused { reason: None }.into();
        let rests = [undoing().into(), pause().into(), rests, end];
        check_status(rests.clone(), RunStatus::Paused);
        let resume = ResumeRequested { by: None };
        let goes_on = rests.into_iter().chain([resume.into()]);
        check_status(goes_on, RunStatus::RollingBack);
    }
}

#[test]
fn a_diverged_run_is_parked_until_an_executor_writes_again() {
    check_status(
        [diverged("a:0").into(), event("e").into()],
        RunStatus::Diverged,
    );
    check_status(
        [diverged("a:0").into(), diverged("b:0").into()],
        RunStatus::Diverged,
    );
    check_status(
        [diverged("a:0").into(), started("a:0", 1).into()],
        RunStatus::Running,
    );
}

// B156
#[test]
fn the_first_cancel_request_counts_and_resolves_what_is_open() {
    let overview = Journal::created()
        .with(started("a:0", 1))
        .with(waiting("w:0", &["e"]))
        .with(asked("q:0", "rpc_1"))
        .with(cancel("first"))
        .with(cancel("second"))
        .with(waiting("late:0", &["e"]))
        .overview();
    assert_eq!(overview.status(), RunStatus::Cancelling);
    assert_eq!(overview.ending, Some(EndingView::Cancel(cancel("first"))));
    assert!(overview.waits.is_empty() && overview.rpcs.is_empty());
    assert_eq!(statuses(&overview), [StepStatus::Running]);
}

// B41
#[test]
fn a_run_past_its_deadline_waits_for_nothing() {
    let passed = DeadlinePassed { deadline: time(9) };
    check_status(
        [sleeping("s:0").into(), passed.clone().into()],
        RunStatus::Running,
    );
    check_status([passed.clone().into()], RunStatus::Queued);
    check_status([passed.into(), cancel("late").into()], RunStatus::Queued);
}

// B194
#[test]
fn the_first_answer_closes_a_question() {
    let journal = Journal::created()
        .with(asked("q:0", "rpc_1"))
        .with(asked("r:0", "rpc_2"));
    let open = journal.overview().rpcs;
    assert_eq!(open.len(), 2);
    assert_eq!(
        (
            open[0].method.as_str(),
            open[0].args.as_str(),
            open[0].since
        ),
        ("approve", "[7]", time(1))
    );
    let overview = journal
        .with(answered("q:0", "rpc_1"))
        .with(answered("q:0", "rpc_1"))
        .overview();
    let left: Vec<_> = overview
        .rpcs
        .iter()
        .map(|rpc| rpc.rpc_id.to_string())
        .collect();
    assert_eq!(left, ["rpc_2"]);
}

#[test]
fn a_fork_asks_again_under_its_own_id() {
    let overview = Journal::created()
        .with(asked("q:0", "old"))
        .with(asked("q:0", "new"))
        .overview();
    let ids: Vec<_> = overview
        .rpcs
        .iter()
        .map(|rpc| rpc.rpc_id.to_string())
        .collect();
    assert_eq!(ids, ["new"]);
}

// B68, B78
#[test]
fn an_event_stays_until_a_wait_takes_it() {
    let early = Journal::created()
        .with(event("e"))
        .with(event("e"))
        .with(waiting("w:0", &["e"]));
    assert_eq!(early.overview().events.len(), 2);
    let overview = early.with(took("w:0", &[1])).overview();
    assert!(overview.waits.is_empty());
    assert_eq!(
        overview.events.front().map(|event| event.number),
        Some(RecordNumber(2))
    );

    let timer = fired(TimerPurpose::Wait, Some("w:0"), time(500));
    let late = Journal::created()
        .with(waiting("w:0", &["e"]))
        .with(timer)
        .with(event("e"))
        .overview();
    assert!(late.waits.is_empty());
    assert_eq!(late.events.len(), 1);
}

#[test]
fn a_timer_that_lost_to_an_event_does_not_keep_the_event() {
    let overview = Journal::created()
        .with(waiting("w:0", &["e"]))
        .with(event("e"))
        .with(fired(TimerPurpose::Wait, Some("w:0"), time(500)))
        .with(took("w:0", &[2]))
        .overview();
    assert!(overview.events.is_empty() && overview.waits.is_empty());
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
fn operators_settle_only_what_is_not_settled() {
    let forced = |place: &str| ForcedFailure {
        location: Some(at(place)),
        error: failure("forced"),
        by: None,
        so_far: None,
    };
    let overview = Journal::created()
        .with(started("skipped:0", 1))
        .with(StepSkipped {
            location: at("skipped:0"),
            result: json("1"),
            by: None,
            so_far: None,
        })
        .with(StepEdited {
            location: at("skipped:0"),
            result: json("2"),
            by: None,
            so_far: None,
        })
        .with(StepEdited {
            location: at("edited:0"),
            result: json("3"),
            by: None,
            so_far: None,
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
fn the_end_abandons_what_is_not_settled() {
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
fn undone_steps_are_marked_and_code_that_goes_on_ends_the_rollback() {
    let undoing = Journal::created()
        .with(completed_step("a:0", 1, "1"))
        .with(UndoStarted {
            location: at("a:0"),
            attempt: 1,
            run: None,
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
    let after = |place, due| {
        journal
            .clone()
            .with(fired(TimerPurpose::Undo, Some(place), due))
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

#[test]
fn dropped_events_are_forgotten() {
    let overview = Journal::created()
        .with(event("e"))
        .with(advanced("each:0", 1, false, &[(1, 1)]))
        .overview();
    assert!(overview.events.is_empty());
}

// B120
#[test]
fn leaving_a_race_a_branch_or_an_iteration_closes_what_was_open_inside() {
    let open = |place: &str| {
        Journal::created()
            .with(waiting(place, &["e"]))
            .with(sleeping("s:0"))
    };
    let won = RaceWon {
        location: at("race:0"),
        winner: name("x"),
    };
    let branch = BranchCompleted {
        location: at("race:0"),
        branch: name("x"),
    };
    let is_closed = |place: &str, body: Body| {
        let overview = open(place).with(body).overview();
        assert_eq!(overview.sleeps.len(), 1);
        overview.waits.is_empty()
    };
    assert!(is_closed("race/y/deep/w:0", won.clone().into()));
    assert!(!is_closed("w:0", won.clone().into()));
    assert!(!is_closed("race:1/y/w:0", won.into()));
    assert!(is_closed("race/x/w:0", branch.clone().into()));
    assert!(!is_closed("race/y/w:0", branch.into()));
    assert!(is_closed(
        "each/~2/w:0",
        advanced("each:0", 3, false, &[]).into()
    ));
    assert!(!is_closed(
        "each/~3/w:0",
        advanced("each:0", 3, false, &[]).into()
    ));
    assert!(is_closed(
        "each/~3/w:0",
        advanced("each:0", 3, true, &[]).into()
    ));
}

// B203
#[test]
fn an_overview_has_type_history_and_times() {
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

#[test]
fn a_run_that_rolls_back_does_so_whether_it_was_cancelled_before_or_meanwhile() {
    let cancel = CancelRequested {
        by: None,
        reason: None,
        rollback: true,
    };
    let undoing = UndoStarted {
        location: at("a:0"),
        attempt: 1,
        run: None,
    };
    let done = Journal::created().with(completed_step("a:0", 1, "1"));
    let cancelled = done.clone().with(cancel.clone());
    assert_eq!(cancelled.overview().status(), RunStatus::Cancelling);
    for rolling_back in [
        cancelled.with(undoing.clone()),
        done.with(undoing).with(cancel),
    ] {
        assert_eq!(rolling_back.overview().status(), RunStatus::RollingBack);
    }
}
