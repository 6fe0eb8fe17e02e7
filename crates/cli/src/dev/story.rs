//! What a record means, as the timeline of its run says it, with the payload behind it.

use std::collections::HashMap;

use everstep::{Body, Entry, Line, Outcome, Payload, RunId, timeline};

/// How a line feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// Something began or was said.
    Plain,
    /// Something succeeded.
    Good,
    /// Something failed.
    Bad,
    /// Something waits.
    Waiting,
}

/// Payloads are shown up to this many characters.
const PAYLOAD_CHARS_MAX: usize = 96;

/// What was told so far: how long something took is known only to who saw it begin.
#[derive(Debug, Default)]
pub(super) struct Story(HashMap<RunId, Vec<Entry>>);

impl Story {
    /// The next record of a run as a sentence. Its whole timeline is told each time, which is as good as instant for runs
    /// that somebody watches.
    pub(super) fn tell(&mut self, run: &RunId, entry: &Entry) -> (Mood, String) {
        let told = self.0.entry(run.clone()).or_default();
        told.push(entry.clone());
        let line = timeline(told).pop();
        self.forget(run, &entry.record.body);
        match line {
            Some(line) => (mood(&line), sentence(&line)),
            None => (Mood::Plain, String::new()),
        }
    }

    /// Lets go of what nothing more will be told of: a run that is over, iterations that are gone.
    fn forget(&mut self, run: &RunId, body: &Body) {
        if body.terminal().is_some() {
            self.0.remove(run);
            return;
        }
        if let (Body::LoopAdvanced(advanced), Some(told)) = (body, self.0.get_mut(run)) {
            let is_gone = |entry: &Entry| {
                let mut ranges = advanced.dropped.iter();
                ranges.any(|range| (range.first..=range.last).contains(&entry.number))
            };
            told.retain(|entry| !is_gone(entry));
        }
    }
}

fn mood(line: &Line) -> Mood {
    match (line.outcome, line.kind) {
        (Some(Outcome::Ok | Outcome::Undone), _) => Mood::Good,
        (Some(Outcome::Skipped | Outcome::Abandoned), _) => Mood::Plain,
        (Some(_), _) => Mood::Bad,
        (None, "sleeping" | "waiting" | "rpc_requested" | "paused") => Mood::Waiting,
        (None, _) if line.error.is_some() => Mood::Bad,
        (None, _) => Mood::Plain,
    }
}

fn sentence(line: &Line) -> String {
    let sentence = &line.sentence;
    match &line.payload {
        Some(payload) => format!("{sentence}: {}", short(payload)),
        None if line.redacted => format!("{sentence}: a secret"),
        None => sentence.clone(),
    }
}

fn short(payload: &Payload) -> String {
    let text = payload.as_str().replace(['\n', '\r'], " ");
    if text.chars().count() <= PAYLOAD_CHARS_MAX {
        return text;
    }
    let start: String = text.chars().take(PAYLOAD_CHARS_MAX).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use everstep::record::{
        Completed, FailureOutcome, LoopAdvanced, Sleeping, StepCompleted, StepFailed, StepStarted,
    };
    use everstep::{Body, ErrorCode, Failure, Location, Name, Record, RecordNumber, Timestamp};

    use super::*;

    fn run() -> RunId {
        RunId::new("r").unwrap()
    }

    /// Tells these records of one run, a second apart; gives the last sentence.
    fn tell(story: &mut Story, bodies: impl IntoIterator<Item = Body>) -> Option<(Mood, String)> {
        let entries = bodies.into_iter().zip(0..).map(|(body, n)| Entry {
            number: RecordNumber(n),
            record: Record {
                time: Timestamp::from_millis(n * 1_000),
                body,
            },
        });
        let told = entries.map(|entry| story.tell(&run(), &entry));
        told.last()
    }

    fn told(bodies: impl IntoIterator<Item = Body>) -> (Mood, String) {
        tell(&mut Story::default(), bodies).unwrap()
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
        }
        .into()
    }

    #[test]
    fn a_result_stands_behind_its_sentence_on_one_line() {
        let line = told([started(), completed("{\n\"id\":7}", false)]);
        let text = r#"Step `charge:0` completed in 1s (attempt 1): { "id":7}"#;
        assert_eq!(line, (Mood::Good, text.to_owned()));
    }

    #[test]
    fn a_long_result_is_cut_and_a_sensitive_one_is_not_shown() {
        let long = format!("\"{}\"", "x".repeat(200));
        let (_, text) = told([started(), completed(&long, false)]);
        assert!(text.ends_with("xxx…"), "{text}");
        let (_, text) = told([started(), completed(&long, true)]);
        assert!(text.ends_with(": a secret"), "{text}");
    }

    #[test]
    fn failures_feel_bad_and_sleeps_wait() {
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
        let (mood, text) = told([started(), failed.into()]);
        assert_eq!(mood, Mood::Bad);
        assert!(text.contains("the bank is busy; next attempt at"), "{text}");
        let sleeping = Sleeping {
            location: at("nap"),
            until: Timestamp::from_millis(9_000),
        };
        assert_eq!(told([sleeping.into()]).0, Mood::Waiting);
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
    fn nothing_is_kept_of_iterations_that_are_gone_and_of_runs_that_are_over() {
        let mut story = Story::default();
        let bodies = [
            started(),
            completed("1", false),
            started(),
            loop_that_dropped(0, 1),
        ];
        tell(&mut story, bodies);
        let kept: Vec<u64> = story.0[&run()].iter().map(|entry| entry.number.0).collect();
        assert_eq!(kept, [2, 3]);
        let over = Completed {
            result: Payload::null(),
            abandoned: Vec::new(),
        };
        tell(&mut story, [over.into()]);
        assert!(story.0.is_empty());
    }
}
