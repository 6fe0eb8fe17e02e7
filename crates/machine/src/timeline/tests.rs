//! Claims about the audit trail. The properties hold for any sequence of records, sensible or not.

use std::time::Duration;

use everstep_model::record::*;
use everstep_model::{Body, Entry, RecordNumber, RecordRange, RpcId, StepOptions, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::overview::random::*;
use crate::overview::samples::*;

fn lines(bodies: impl IntoIterator<Item = Body>) -> Vec<Line> {
    timeline(&Journal::created().with_all(bodies).0)
}

fn last(bodies: impl IntoIterator<Item = Body>) -> Line {
    lines(bodies).pop().unwrap()
}

/// The sentence and the duration in seconds of the last of these records. Record `n` is written at second `n`.
fn check(bodies: impl IntoIterator<Item = Body>, sentence: &str, seconds: Option<u64>) {
    let line = last(bodies);
    assert_eq!(line.to_string(), sentence);
    assert_eq!(
        line.duration,
        seconds.map(Duration::from_secs),
        "{sentence}"
    );
}

fn secret(location: &str) -> StepStarted {
    let options = StepOptions {
        sensitive: true,
        ..StepOptions::default()
    };
    StepStarted {
        options: Some(options),
        ..started(location, 1)
    }
}

fn undo_started(location: &str, attempt: u32) -> UndoStarted {
    UndoStarted {
        location: at(location),
        attempt,
        run: None,
    }
}

fn undone(location: &str, attempt: u32) -> UndoCompleted {
    UndoCompleted {
        location: at(location),
        attempt,
        run: None,
    }
}

/// The journal as it is read once what its loops dropped is gone.
fn compacted(journal: &Journal) -> Vec<Entry> {
    let mut kept = journal.0.clone();
    for entry in &journal.0 {
        if let Body::LoopAdvanced(advanced) = &entry.record.body {
            kept.retain(|old| {
                let is_in = |range: &RecordRange| (range.first..=range.last).contains(&old.number);
                old.number >= entry.number || !advanced.dropped.iter().any(is_in)
            });
        }
    }
    kept
}

proptest! {
    // B182
    #[test]
    fn every_record_has_one_line_and_every_gap_another(journal in any_journal()) {
        let kept = compacted(&journal);
        let lines = timeline(&kept);
        let (gaps, told): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.dropped.is_some());
        prop_assert_eq!(told.len(), kept.len());
        for (line, entry) in told.iter().zip(&kept) {
            prop_assert_eq!(line.number, entry.number);
            prop_assert_eq!(line.time, entry.record.time);
            prop_assert_eq!(line.kind, entry.record.body.type_name());
            prop_assert_eq!(line.location.as_ref(), entry.record.body.location());
        }
        // Together they cover the journal from its first record to its last.
        let gone: u64 = gaps.iter().filter_map(|gap| gap.dropped).map(|range| range.last.0 - range.first.0 + 1).sum();
        let covered = kept.first().zip(kept.last()).map_or(0, |(first, last)| last.number.0 - first.number.0 + 1);
        prop_assert_eq!(gone + kept.len() as u64, covered);
    }

    #[test]
    fn any_sequence_of_records_can_be_told(journal in any_journal(), numbers in any::<[u64; 4]>()) {
        // Numbers out of order do not happen; should they, every record still has its line.
        let mut entries = journal.0;
        for (entry, number) in entries.iter_mut().rev().zip(numbers) {
            entry.number = RecordNumber(number);
        }
        let lines = timeline(&entries);
        prop_assert!(lines.len() >= entries.len());
        prop_assert_eq!(timeline(&entries), lines);
    }

    #[test]
    fn each_line_is_one_line_of_json_that_says_the_same(journal in any_journal()) {
        let lines = timeline(&journal.0);
        let text = to_json_lines(&lines);
        prop_assert_eq!(text.lines().count(), lines.len());
        for (json, line) in text.lines().zip(&lines) {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            prop_assert_eq!(value["number"].as_u64(), Some(line.number.0));
            prop_assert_eq!(value["kind"].as_str(), Some(line.kind));
            prop_assert_eq!(value["sentence"].as_str(), Some(line.sentence.as_str()));
        }
    }

    #[test]
    fn a_sensitive_result_never_appears(journal in any_open_journal(), before in any::<bool>()) {
        let result = "\"hunter2\"";
        let records: Vec<Body> = vec![
            completed_step("s:0", 1, result).into(),
            StepSkipped { location: at("s:0"), result: json(result), by: None, so_far: None,
}.into(),
            StepEdited { location: at("s:0"), result: json(result), by: None, so_far: None,
}.into(),
        ];
        let journal = if before {
            journal.with(secret("s:0")).with_all(records)
        } else {
            journal.with_all(records).with(secret("s:0"))
        };
        let lines = timeline(&journal.0);
        prop_assert_eq!(lines.iter().filter(|line| line.redacted && line.location == Some(at("s:0"))).count(), 3);
        prop_assert!(!to_json_lines(&lines).contains("hunter2"));
        let debugged = format!("{lines:?}");
        prop_assert!(!debugged.contains("hunter2"));
    }

    #[test]
    fn text_from_outside_cannot_break_a_line(text in any::<String>()) {
        let note = Note { location: at("n:0"), text: text.clone() };
        let ended = Terminated { by: Some(text.clone()), reason: Some(text), ..terminated(&[]) };
        for line in lines([note.into(), ended.into()]) {
            prop_assert!(!line.to_string().contains(char::is_control));
        }
    }
}

#[test]
fn the_result_of_a_step_that_completed_as_sensitive_is_withheld() {
    let completed = StepCompleted {
        sensitive: true,
        ..completed_step("s:0", 1, "\"hunter2\"")
    };
    let line = last([completed.into()]);
    assert_eq!((line.payload, line.redacted), (None, true));
}

#[test]
fn an_attempt_lasts_from_its_start() {
    let completed = StepCompleted {
        started_at: time(1),
        ..completed_step("charge:0", 2, "5")
    };
    let (start, completed) = (Body::from(started("charge:0", 2)), Body::from(completed));
    check([start.clone()], "Step `charge:0` started (attempt 2)", None);
    check(
        [start.clone(), completed.clone()],
        "Step `charge:0` completed in 1s (attempt 2)",
        Some(1),
    );
    let line = last([start, completed]);
    assert_eq!((line.outcome, line.attempt), (Some(Outcome::Ok), Some(2)));
    assert_eq!(line.payload, Some(json("5")));
}

#[test]
fn a_failed_attempt_says_why_and_what_follows() {
    let outcomes = [
        (
            FailureOutcome::Retrying,
            Outcome::Retrying,
            "failed after 1s (attempt 3): gateway down; next attempt at 2026-11-15T08:01:40.000Z",
        ),
        (
            FailureOutcome::Exhausted,
            Outcome::Failed,
            "failed after 1s (attempt 3): gateway down; no attempts are left",
        ),
        (
            FailureOutcome::Fatal,
            Outcome::Failed,
            "failed after 1s (attempt 3): gateway down; not tried again",
        ),
        (
            FailureOutcome::TimedOut,
            Outcome::TimedOut,
            "timed out after 1s (attempt 3): gateway down; not tried again",
        ),
        (
            FailureOutcome::RollBack,
            Outcome::Failed,
            "failed after 1s (attempt 3): gateway down; it asks to roll back",
        ),
    ];
    for (outcome, expected, sentence) in outcomes {
        let line = last([failed_step("a:0", 3, outcome).into()]);
        assert_eq!(line.to_string(), format!("Step `a:0` {sentence}"));
        assert_eq!(line.outcome, Some(expected));
        assert_eq!(line.error.unwrap().code, "step_failed");
    }
}

#[test]
fn an_abandoned_step_says_how_long_it_had_run() {
    let abandoned = StepAbandoned {
        location: at("a:0"),
        so_far: None,
    };
    check(
        [
            started("a:0", 1).into(),
            event("x").into(),
            abandoned.into(),
        ],
        "Step `a:0` abandoned after 2s",
        Some(2),
    );
}

#[test]
fn what_operators_do_to_a_step_has_their_name() {
    let by = Some("alice".to_owned());
    let (location, result) = (at("a:0"), json("1"));
    let skipped = StepSkipped {
        location: location.clone(),
        result: result.clone(),
        by: by.clone(),
        so_far: None,
    };
    check(
        [started("a:0", 1).into(), skipped.clone().into()],
        "Step `a:0` skipped by alice after 1s",
        Some(1),
    );
    let line = last([skipped.into()]);
    assert_eq!((line.actor, line.by), (Actor::Outside, by.clone()));
    assert_eq!(line.outcome, Some(Outcome::Skipped));
    let edited = StepEdited {
        location: location.clone(),
        result,
        by: None,
        so_far: None,
    };
    check([edited.into()], "Step `a:0` given its result", None);
    let forced = ForcedFailure {
        location: Some(location),
        error: failure("enough"),
        by,
        so_far: None,
    };
    check(
        [sleeping("a:0").into(), forced.into()],
        "`a:0` forced to fail by alice after 1s: enough",
        Some(1),
    );
}

#[test]
fn a_sleep_lasts_until_its_timer() {
    let fired = fired(TimerPurpose::Sleep, Some("nap:0"), time(200));
    check(
        [sleeping("nap:0").into()],
        "Sleep `nap:0` began, until 2026-11-15T08:03:20.000Z",
        None,
    );
    check(
        [sleeping("nap:0").into(), fired.into()],
        "Sleep `nap:0` ended after 1s",
        Some(1),
    );
}

#[test]
fn a_wait_lasts_until_it_took_its_event_or_gave_up() {
    let wait = || Body::from(waiting("w:0", &["yes", "no"]));
    check(
        [wait()],
        "Wait `w:0` began for event `yes` or `no`, until 2026-11-15T08:08:20.000Z",
        None,
    );
    check(
        [wait(), event("yes").into(), took("w:0", &[2]).into()],
        "Wait `w:0` took 1 event after 2s",
        Some(2),
    );
    let given_up = WaitTimedOut {
        location: at("w:0"),
    };
    check(
        [wait(), given_up.into()],
        "Wait `w:0` timed out after 1s",
        Some(1),
    );
    let many = Waiting {
        batch: 5,
        deadline: None,
        ..waiting("w:0", &["yes"])
    };
    check(
        [many.into()],
        "Wait `w:0` began for event `yes`, 5 at once at most",
        None,
    );
}

#[test]
fn an_answer_says_who_gave_it_and_how_long_that_took() {
    let answer = RpcAnswered {
        by: Some("bob".to_owned()),
        ..answered("q:0", "rpc_1")
    };
    let over = |timed_out| RpcCompleted {
        location: at("q:0"),
        rpc_id: RpcId("rpc_1".into()),
        timed_out,
        deadline: None,
    };
    let question = || Body::from(asked("q:0", "rpc_1"));
    check(
        [question()],
        "Question `q:0` asked: `approve` (rpc_1)",
        None,
    );
    check(
        [question(), answer.clone().into()],
        "Question `q:0` answered by bob after 1s",
        Some(1),
    );
    check(
        [question(), answer.into(), over(false).into()],
        "Question `q:0` took its answer after 2s",
        Some(2),
    );
    check(
        [question(), over(true).into()],
        "Question `q:0` timed out after 1s",
        Some(1),
    );
}

#[test]
fn a_pause_lasts_until_somebody_resumes_it() {
    let resume = ResumeRequested {
        by: Some("bob".to_owned()),
    };
    let paused = || Body::from(Paused { reason: None });
    check(
        [pause().into()],
        "Pause requested by alice: maintenance",
        None,
    );
    check(
        [paused(), event("x").into(), resume.clone().into()],
        "Resume requested by bob after 2s",
        Some(2),
    );
    check(
        [paused(), Resumed {}.into()],
        "Run resumed after 1s",
        Some(1),
    );
    // The request ended the pause; that it was carried out ends nothing more.
    check(
        [paused(), resume.into(), Resumed {}.into()],
        "Run resumed",
        None,
    );
}

#[test]
fn a_child_lasts_until_it_ends() {
    check(
        [child("c:0", true).into()],
        "Child `c:0` started: run `ship-1` of workflow `ship`, and nobody waits for it",
        None,
    );
    check(
        [child("c:0", false).into(), child_finished("c:0").into()],
        "Child `c:0` completed after 1s",
        Some(1),
    );
    let failed = ChildFinished {
        outcome: ChildOutcome::Failed(failure("lost")),
        ..child_finished("c:0")
    };
    check([failed.into()], "Child `c:0` failed: lost", None);
}

#[test]
fn branches_last_from_the_beginning_of_their_join() {
    let race = BranchesStarted {
        location: at("fan:0"),
        kind: BranchesKind::Race,
        branches: vec![name("x"), name("y")],
    };
    let won = RaceWon {
        location: at("fan:0"),
        winner: name("x"),
    };
    check(
        [race.clone().into()],
        "Race `fan:0` began with branches `x`, `y`",
        None,
    );
    check(
        [race.into(), won.into()],
        "Race `fan:0` won by branch `x` after 1s",
        Some(1),
    );
}

#[test]
fn an_iteration_lasts_from_its_first_record_or_from_the_one_before_it() {
    let first = [
        Body::from(started("each/~0/a:0", 1)),
        event("x").into(),
        advanced("each:0", 1, false, &[]).into(),
    ];
    check(
        first.clone(),
        "Loop `each:0` finished iteration 0 in 2s",
        Some(2),
    );
    let rest = [
        Body::from(event("x")),
        started("each/~1/a:0", 1).into(),
        advanced("each:0", 1, true, &[]).into(),
    ];
    check(
        first.into_iter().chain(rest),
        "Loop `each:0` ended with iteration 1 in 3s",
        Some(3),
    );
}

#[test]
fn what_compaction_dropped_is_one_line() {
    let journal = Journal::created()
        .with(started("each/~0/a:0", 1))
        .with(completed_step("each/~0/a:0", 1, "1"))
        .with(advanced("each:0", 1, false, &[]))
        .with(advanced("each:0", 2, false, &[(1, 3)]));
    // Who still has the records tells them.
    assert_eq!(timeline(&journal.0).len(), 5);
    let lines = timeline(&compacted(&journal));
    let gap = &lines[1];
    assert_eq!(lines.len(), 3);
    assert_eq!(
        gap.to_string(),
        "3 records (numbers 1 to 3) dropped by compaction of loop `each:0`"
    );
    assert_eq!((gap.kind, gap.actor), ("records_dropped", Actor::Engine));
    assert_eq!(
        (gap.location.clone(), gap.time),
        (Some(at("each:0")), time(4))
    );
    assert_eq!(
        lines[2].to_string(),
        "Loop `each:0` finished iteration 1, and dropped 3 old records"
    );
}

#[test]
fn a_rollback_tells_each_undo_and_how_long_all_took() {
    let undo_failed = UndoFailed {
        location: at("a:0"),
        attempt: 1,
        error: failure("bank closed"),
        retry_at: Some(time(50)),
        run: None,
    };
    let failed = Failed {
        error: failure("no stock"),
        rolled_back: true,
        abandoned: vec![at("b:0")],
        caused_by: Vec::new(),
    };
    let bodies = [
        Body::from(undo_started("a:0", 1)),
        undo_failed.into(),
        undo_started("a:0", 2).into(),
        undone("a:0", 2).into(),
        failed.into(),
    ];
    let told: Vec<_> = lines(bodies).iter().map(ToString::to_string).collect();
    assert_eq!(
        told[1..],
        [
            "Undo of `a:0` started (attempt 1)",
            "Undo of `a:0` failed after 1s (attempt 1): bank closed; next attempt at 2026-11-15T08:00:50.000Z",
            "Undo of `a:0` started (attempt 2)",
            "Undo of `a:0` completed in 1s (attempt 2)",
            "Run failed after 5s: no stock; rolled back in 4s; 1 step abandoned",
        ]
    );
}

#[test]
fn the_end_says_how_long_the_run_lasted() {
    check([completed().into()], "Run completed after 1s", Some(1));
    check(
        [cancel("no").into(), terminated(&["a:0", "b:0"]).into()],
        "Run terminated after 2s: stop; 2 steps abandoned",
        Some(2),
    );
    let cancelled = Cancelled {
        reason: Some("no".to_owned()),
        rolled_back: false,
        abandoned: Vec::new(),
    };
    check([cancelled.into()], "Run cancelled after 1s: no", Some(1));
    let failed = RollbackFailed {
        error: failure("no stock"),
        rollback_error: failure("bank closed"),
        abandoned: Vec::new(),
    };
    check(
        [undo_started("a:0", 1).into(), failed.into()],
        "Run failed after 2s: no stock; its rollback failed after 1s: bank closed",
        Some(2),
    );
}

#[test]
fn each_attempt_of_the_whole_function_is_measured() {
    let due = fired(TimerPurpose::ExecutionRetry, None, time(300));
    check(
        [
            execution_retried(1).into(),
            due.into(),
            event("x").into(),
            execution_retried(2).into(),
        ],
        "Workflow failed after 2s (attempt 2): no luck; it runs again at 2026-11-15T08:05:00.000Z",
        Some(2),
    );
}

#[test]
fn json_has_its_fields_in_one_order_and_payloads_as_they_were_given() {
    let event = Event {
        payload: json("{ \"ok\" :\n 1.50 }"),
        by: Some("al\"ice".to_owned()),
        ..event("approval")
    };
    let failed = failed_step("a:0", 1, FailureOutcome::Fatal);
    let text = to_json_lines(&lines([event.into(), failed.into(), secret("s:0").into()]));
    let expected = [
        "{\"number\":0,\"time\":\"2026-11-15T08:00:00.000Z\",\"kind\":\"created\",\"actor\":\"outside\",\
         \"sentence\":\"Run of workflow `payment` (version 2) created\",\"payload\":{\"amount\":5}}",
        "{\"number\":1,\"time\":\"2026-11-15T08:00:01.000Z\",\"kind\":\"event\",\"actor\":\"outside\",\
         \"by\":\"al\\\"ice\",\"sentence\":\"Event `approval` received from al\\\"ice\",\
         \"payload\":{ \"ok\" :  1.50 }}",
        "{\"number\":2,\"time\":\"2026-11-15T08:00:02.000Z\",\"kind\":\"step_failed\",\"location\":\"a:0\",\
         \"actor\":\"workflow\",\"sentence\":\"Step `a:0` failed after 2s (attempt 1): gateway down; not tried \
         again\",\"outcome\":\"failed\",\"durationMs\":2000,\"attempt\":1,\"error\":{\"code\":\"step_failed\",\
         \"name\":\"step_failed\",\"message\":\"gateway down\",\"attempt\":1}}",
        "{\"number\":3,\"time\":\"2026-11-15T08:00:03.000Z\",\"kind\":\"step_started\",\"location\":\"s:0\",\
         \"actor\":\"workflow\",\"sentence\":\"Step `s:0` started (attempt 1)\",\"attempt\":1}",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert!(text.ends_with('\n'));
}

#[test]
fn a_clock_that_went_back_gives_no_negative_duration() {
    let mut journal = Journal::created().with(completed());
    journal.0[1].record.time = Timestamp::from_millis(0);
    let line = timeline(&journal.0).pop().unwrap();
    assert_eq!(line.duration, Some(Duration::ZERO));
}
