//! Tests of the audit trail. The properties hold for any sequence of records, valid or not.

mod elapsed;
mod properties;

use std::time::Duration;

use everstep_model::record::*;
use everstep_model::{Body, Entry, RecordNumber, RecordRange, RpcId, StepOptions, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::tests::*;

fn lines(bodies: impl IntoIterator<Item = Body>) -> Vec<Line> {
    timeline(&Journal::created().with_all(bodies).0)
}

fn last(bodies: impl IntoIterator<Item = Body>) -> Line {
    lines(bodies).pop().unwrap()
}

/// Checks the sentence and the duration in seconds of the last of these records. Record `n` is
/// written at second `n`.
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

/// Returns the journal as it is read once what its loops dropped is gone.
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

fn undo_started(location: &str, attempt: u32) -> UndoStarted {
    UndoStarted {
        location: at(location),
        attempt,
        run: None,
        ends_run: false,
    }
}

fn undone(location: &str, attempt: u32) -> UndoCompleted {
    UndoCompleted {
        location: at(location),
        attempt,
        run: None,
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
fn a_failed_attempt_shows_its_error_and_what_follows() {
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
            "failed after 1s (attempt 3): gateway down; it requests a rollback",
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
fn requests_of_operators_show_their_author() {
    let by = Some("alice".to_owned());
    let (location, result) = (at("a:0"), json("1"));
    let skipped = StepSkipped {
        so_far: None,
        location: location.clone(),
        result: result.clone(),
        by: by.clone(),
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
        so_far: None,
        location: location.clone(),
        result,
        by: None,
    };
    check([edited.into()], "Step `a:0` given its result", None);
    let forced = ForcedFailure {
        so_far: None,
        location: Some(location),
        error: failure("enough"),
        by,
    };
    check(
        [sleeping("a:0").into(), forced.into()],
        "`a:0` forced to fail by alice after 1s: enough",
        Some(1),
    );
}

#[test]
fn each_gap_of_compaction_is_one_line() {
    let journal = Journal::created()
        .with(started("each/~0/a:0", 1))
        .with(completed_step("each/~0/a:0", 1, "1"))
        .with(advanced("each:0", 1, false, &[]))
        .with(advanced("each:0", 2, false, &[(1, 3)]));
    // A reader that still has the records shows them.
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
fn a_rollback_has_a_line_per_undo_and_shows_its_duration() {
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
    let sentences: Vec<_> = lines(bodies).iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences[1..],
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
