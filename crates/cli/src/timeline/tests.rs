//! Timelines of recorded runs.

use everstep::journal::record::{
    Completed, FailureOutcome, LoopAdvanced, Sleeping, StepCompleted, StepFailed, StepStarted,
};
use everstep::journal::{Location, Record, RecordNumber};
use everstep::{ErrorCode, Failure, Name};

use super::*;

fn run() -> RunId {
    RunId::new("r").unwrap()
}

/// Adds these records of one run, one second apart, and returns the last line.
fn add(
    timeline: &mut LiveTimeline,
    bodies: impl IntoIterator<Item = Body>,
) -> Option<(Colour, String)> {
    let entries = bodies.into_iter().zip(0..).map(|(body, n)| Entry {
        number: RecordNumber(n),
        record: Record {
            time: Timestamp::from_millis(n * 1_000),
            body,
        },
    });
    let lines = entries.flat_map(|entry| timeline.add(&run(), &[entry]));
    lines.last().map(|line| (line.colour, line.text))
}

fn last_line(bodies: impl IntoIterator<Item = Body>) -> (Colour, String) {
    add(&mut LiveTimeline::default(), bodies).unwrap()
}

fn at(name: &str) -> Location {
    Location::root(Name::new(name).unwrap(), 0)
}

fn started() -> Body {
    StepStarted {
        location: at("charge"),
        attempt: 1,
        options: None,
    }
    .into()
}

fn completed(result: &str, sensitive: bool) -> Body {
    StepCompleted {
        location: at("charge"),
        attempt: 1,
        started_at: Timestamp::from_millis(0),
        result: Payload::from_json(result.to_owned()).unwrap(),
        undo: None,
        sensitive,
        early: None,
        no_return: false,
    }
    .into()
}

#[test]
fn a_result_follows_its_sentence_on_the_same_line() {
    let line = last_line([started(), completed("{\n\"id\":7}", false)]);
    let text = r#"Step `charge:0` completed in 1s (attempt 1): { "id":7}"#;
    assert_eq!(line, (Colour::Good, text.to_owned()));
}

#[test]
fn lines_of_a_server_are_rendered_the_same() {
    let entries = [started(), completed("1", false)].into_iter().zip(0..);
    let entries = entries.map(|(body, n)| Entry {
        number: RecordNumber(n),
        record: Record {
            time: Timestamp::from_millis(n * 1_000),
            body,
        },
    });
    let entries: Vec<Entry> = entries.collect();
    let of_server = timeline(&entries).into_iter().map(|line| {
        let json = serde_json::to_string(&line).unwrap();
        serde_json::from_str::<ServerLine>(&json).unwrap().render()
    });
    let rendered = LiveTimeline::default().add(&run(), &entries);
    assert_eq!(of_server.collect::<Vec<_>>(), rendered);
}

#[test]
fn a_long_result_is_truncated_and_a_sensitive_one_is_hidden() {
    let long = format!("\"{}\"", "x".repeat(200));
    let (_, text) = last_line([started(), completed(&long, false)]);
    assert!(text.ends_with("xxx…"), "{text}");
    let (_, text) = last_line([started(), completed(&long, true)]);
    assert!(text.ends_with(": (secret)"), "{text}");
}

#[test]
fn failures_and_sleeps_have_their_own_colours() {
    let failed = StepFailed {
        location: at("charge"),
        attempt: 1,
        started_at: Timestamp::from_millis(0),
        error: Failure::new(ErrorCode::StepFailed, "the bank is busy"),
        outcome: FailureOutcome::Retrying,
        retry_at: Some(Timestamp::from_millis(3_000)),
        undo: None,
        retries_left: None,
    };
    let (colour, text) = last_line([started(), failed.into()]);
    assert_eq!(colour, Colour::Bad);
    assert!(text.contains("the bank is busy; next attempt at"), "{text}");
    let sleeping = Sleeping {
        location: at("nap"),
        until: Timestamp::from_millis(9_000),
    };
    assert_eq!(last_line([sleeping.into()]).0, Colour::Waiting);
}

fn loop_that_dropped(first: u64, last: u64) -> Body {
    let advanced = serde_json::json!({
        "id": at("l"),
        "iteration": 2,
        "state": null,
        "done": false,
        "folded": 0,
        "now": Timestamp::default(),
        "dropped": [{"first": first, "last": last}],
    });
    let advanced: LoopAdvanced = serde_json::from_value(advanced).unwrap();
    advanced.into()
}

#[test]
fn records_of_dropped_iterations_and_ended_runs_are_not_kept() {
    let mut timeline = LiveTimeline::default();
    let bodies = [
        started(),
        completed("1", false),
        started(),
        loop_that_dropped(0, 1),
    ];
    add(&mut timeline, bodies);
    let kept: Vec<u64> = timeline.0[&run()]
        .iter()
        .map(|entry| entry.number.0)
        .collect();
    assert_eq!(kept, [2, 3]);
    let completed = Completed {
        result: Payload::null(),
        abandoned: Vec::new(),
    };
    add(&mut timeline, [completed.into()]);
    assert!(timeline.0.is_empty());
}
