//! Renders the timeline of a run as lines of text: time, sentence, payload.

use std::collections::HashMap;

use everstep::inspect::{Outcome, timeline};
use everstep::journal::{Body, Entry, Timestamp};
use everstep::{Payload, RunId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::local_time::{LocalClock, with_local_times};
use crate::output::{Colour, Paint, escape_controls, truncate};

/// Renders records of several runs as they arrive.
///
/// It keeps the records of unfinished runs, because a sentence about the end of an operation needs
/// its beginning, for example for the duration.
#[derive(Debug, Default)]
pub(crate) struct LiveTimeline(HashMap<RunId, Vec<Entry>>);

/// A rendered record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineLine {
    pub(crate) time: Timestamp,
    pub(crate) colour: Colour,
    pub(crate) text: String,
}

impl LiveTimeline {
    /// Renders the next records of a run. It recomputes the timeline of the whole run each time,
    /// which is fast enough for a human reader.
    pub(crate) fn add(&mut self, run: &RunId, entries: &[Entry]) -> Vec<TimelineLine> {
        let Some(first) = entries.first().map(|entry| entry.number) else {
            return Vec::new();
        };
        let known = self.0.entry(run.clone()).or_default();
        known.extend_from_slice(entries);
        let lines = timeline(known).into_iter();
        let new = lines.filter(|line| line.number >= first);
        let rendered = new.map(|line| TimelineLine {
            time: line.time,
            colour: colour(line.outcome, line.kind, line.error.is_some()),
            text: sentence(&line.sentence, line.payload.as_ref(), line.redacted),
        });
        let rendered = rendered.collect();
        for entry in entries {
            self.forget(run, &entry.record.body);
        }
        rendered
    }

    /// Drops records that later sentences do not need: those of ended runs and of dropped
    /// iterations.
    fn forget(&mut self, run: &RunId, body: &Body) {
        if body.terminal().is_some() {
            self.0.remove(run);
            return;
        }
        if let (Body::LoopAdvanced(advanced), Some(kept)) = (body, self.0.get_mut(run)) {
            let is_dropped = |entry: &Entry| {
                let mut ranges = advanced.dropped.iter();
                ranges.any(|range| (range.first..=range.last).contains(&entry.number))
            };
            kept.retain(|entry| !is_dropped(entry));
        }
    }
}

/// A line of a timeline in the server's response.
#[derive(Debug, Deserialize)]
pub(crate) struct ServerLine {
    time: Timestamp,
    kind: String,
    sentence: String,
    outcome: Option<Outcome>,
    error: Option<IgnoredAny>,
    payload: Option<Payload>,
    #[serde(default)]
    redacted: bool,
}

impl ServerLine {
    pub(crate) fn render(&self) -> TimelineLine {
        TimelineLine {
            time: self.time,
            colour: colour(self.outcome, &self.kind, self.error.is_some()),
            text: sentence(&self.sentence, self.payload.as_ref(), self.redacted),
        }
    }
}

impl TimelineLine {
    /// Formats the line with the local time of day. `prefix` precedes the sentence. The first line
    /// of a day is preceded by a line with the date.
    pub(crate) fn format(&self, clock: &mut LocalClock, paint: Paint, prefix: &str) -> String {
        let (heading, time) = clock.format(self.time);
        let heading = heading.map(|text| paint.paint(Colour::Quiet, &text) + "\n");
        let time = paint.paint(Colour::Quiet, &time);
        let text = paint.paint(self.colour, &self.text);
        format!("{}{time}  {prefix}{text}", heading.unwrap_or_default())
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
    let sentence = with_local_times(&escape_controls(sentence));
    match payload {
        Some(payload) => format!("{sentence}: {}", truncate(payload.as_str())),
        None if is_redacted => format!("{sentence}: (secret)"),
        None => sentence,
    }
}

#[cfg(test)]
mod tests;
