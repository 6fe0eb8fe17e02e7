//! What a record means, as the timeline of its run says it, with the payload behind it.

use std::collections::HashMap;

use everstep::{Body, Entry, Outcome, Payload, RecordNumber, RunId, Timestamp, timeline};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::output::{Colour, Paint, clean, short};

/// What was told so far: how long something took is known only to who saw it begin.
#[derive(Debug, Default)]
pub(crate) struct Story(HashMap<RunId, Vec<Entry>>);

/// A record as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) time: Timestamp,
    pub(crate) colour: Colour,
    pub(crate) text: String,
}

impl Story {
    /// The next records of a run as sentences. Its whole timeline is told each time, which is as good as instant for runs
    /// that somebody watches.
    pub(crate) fn tell(&mut self, run: &RunId, entries: &[Entry]) -> Vec<Told> {
        let Some(first) = entries.first().map(|entry| entry.number) else {
            return Vec::new();
        };
        let known = self.0.entry(run.clone()).or_default();
        known.extend_from_slice(entries);
        let lines = timeline(known).into_iter();
        let told = lines.filter(|line| line.number >= first).map(|line| Told {
            time: line.time,
            colour: colour(line.outcome, line.kind, line.error.is_some()),
            text: sentence(&line.sentence, line.payload.as_ref(), line.redacted),
        });
        let told = told.collect();
        for entry in entries {
            self.forget(run, &entry.record.body);
        }
        told
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

/// A line of a timeline as a server sends it.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    pub(crate) number: RecordNumber,
    time: Timestamp,
    kind: String,
    sentence: String,
    outcome: Option<Outcome>,
    error: Option<IgnoredAny>,
    payload: Option<Payload>,
    #[serde(default)]
    redacted: bool,
}

impl Sent {
    pub(crate) fn told(&self) -> Told {
        Told {
            time: self.time,
            colour: colour(self.outcome, &self.kind, self.error.is_some()),
            text: sentence(&self.sentence, self.payload.as_ref(), self.redacted),
        }
    }
}

impl Told {
    /// The time of day, and what happened; the date is seldom news.
    pub(crate) fn line(&self, paint: Paint, who: &str) -> String {
        let time = self.time.to_string();
        let clock = paint.paint(Colour::Quiet, time.get(11..23).unwrap_or(&time));
        format!("{clock}  {who}{}", paint.paint(self.colour, &self.text))
    }
}

fn colour(outcome: Option<Outcome>, kind: &str, is_error: bool) -> Colour {
    match (outcome, kind) {
        (Some(Outcome::Ok | Outcome::Undone), _) => Colour::Good,
        (Some(Outcome::Skipped | Outcome::Abandoned), _) => Colour::Plain,
        (Some(_), _) => Colour::Bad,
        (None, "sleeping" | "waiting" | "rpc_requested" | "paused") => Colour::Waiting,
        (None, _) if is_error => Colour::Bad,
        (None, _) => Colour::Plain,
    }
}

fn sentence(sentence: &str, payload: Option<&Payload>, is_redacted: bool) -> String {
    let sentence = clean(sentence);
    match payload {
        Some(payload) => format!("{sentence}: {}", short(payload.as_str())),
        None if is_redacted => format!("{sentence}: a secret"),
        None => sentence,
    }
}

#[cfg(test)]
mod tests {
    use everstep::record::{
        Completed, FailureOutcome, LoopAdvanced, Sleeping, StepCompleted, StepFailed, StepStarted,
    };
    use everstep::{ErrorCode, Failure, Location, Name, Record};

    use super::*;

    fn run() -> RunId {
        RunId::new("r").unwrap()
    }

    /// Tells these records of one run, a second apart; gives the last sentence.
    fn tell(story: &mut Story, bodies: impl IntoIterator<Item = Body>) -> Option<(Colour, String)> {
        let entries = bodies.into_iter().zip(0..).map(|(body, n)| Entry {
            number: RecordNumber(n),
            record: Record {
                time: Timestamp::from_millis(n * 1_000),
                body,
            },
        });
        let told = entries.flat_map(|entry| story.tell(&run(), &[entry]));
        told.last().map(|told| (told.colour, told.text))
    }

    fn told(bodies: impl IntoIterator<Item = Body>) -> (Colour, String) {
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
        assert_eq!(line, (Colour::Good, text.to_owned()));
    }

    #[test]
    fn what_a_server_sends_is_told_the_same() {
        let entries = [started(), completed("1", false)].into_iter().zip(0..);
        let entries = entries.map(|(body, n)| Entry {
            number: RecordNumber(n),
            record: Record {
                time: Timestamp::from_millis(n * 1_000),
                body,
            },
        });
        let entries: Vec<Entry> = entries.collect();
        let sent = timeline(&entries).into_iter().map(|line| {
            let json = serde_json::to_string(&line).unwrap();
            serde_json::from_str::<Sent>(&json).unwrap().told()
        });
        let told = Story::default().tell(&run(), &entries);
        assert_eq!(sent.collect::<Vec<_>>(), told);
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
        let (colour, text) = told([started(), failed.into()]);
        assert_eq!(colour, Colour::Bad);
        assert!(text.contains("the bank is busy; next attempt at"), "{text}");
        let sleeping = Sleeping {
            location: at("nap"),
            until: Timestamp::from_millis(9_000),
        };
        assert_eq!(told([sleeping.into()]).0, Colour::Waiting);
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
