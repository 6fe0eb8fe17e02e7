//! The output of `dev`: commands to try, then the timeline of all runs as text or JSON lines.

use everstep::RunId;
use everstep::journal::entry_to_json;
use serde::Serialize;
use serde_json::value::RawValue;

use super::watch::{Line, UnfinishedRuns};
use crate::hosting::{SHUTTING_DOWN, shutting_down};
use crate::local_time::LocalClock;
use crate::output::{Colour, Output};
use crate::timeline::LiveTimeline;

/// A record in JSON output.
#[derive(Serialize)]
struct RecordLine<'a> {
    run: &'a RunId,
    record: Box<RawValue>,
}

/// Commands to try in another terminal, with a comment.
const SUGGESTIONS: &[(&str, &str)] = &[
    (
        r#"everstep start hello '{"name":"Ada"}' --wait"#,
        "start a run and print its result",
    ),
    (
        r#"everstep start expense '{"amount":1500,"description":"Team dinner","submittedBy":"alice@example.com"}' --id expense-1"#,
        "",
    ),
    (
        "everstep tail expense-1",
        "follow the run until it waits for an answer",
    ),
    (
        r#"everstep answer expense-1 approveExpense '{"approved":true}'"#,
        "answer its rpc",
    ),
    ("everstep list", ""),
];

/// What the first lines say.
pub(super) struct Introduction<'a> {
    pub(super) url: &'a str,
    /// The flags that a command needs to reach this server.
    pub(super) flags: &'a str,
    pub(super) location: &'a str,
    /// What the data survives. `None` if it is in memory.
    pub(super) durability: Option<&'a str>,
    pub(super) unfinished: UnfinishedRuns,
}

pub(super) struct Screen {
    out: Output,
    /// In order of appearance, which determines their colours.
    runs: Vec<RunId>,
    timeline: LiveTimeline,
    clock: LocalClock,
}

impl Screen {
    pub(super) fn new(is_json: bool) -> Self {
        Self {
            out: Output::new(is_json),
            runs: Vec::new(),
            timeline: LiveTimeline::default(),
            clock: LocalClock::new(),
        }
    }

    pub(super) fn introduce(&mut self, it: &Introduction<'_>) -> anyhow::Result<()> {
        if self.out.is_json {
            return self.out.json(&serde_json::json!({"listening": it.url}));
        }
        let paint = self.out.paint;
        let address = paint.paint(Colour::Strong, it.url);
        let runs = describe_unfinished(&it.unfinished);
        let survives = it.durability.unwrap_or("nothing: it ends with this server");
        self.out.line(&format!(
            "Everstep listens on {address}, for this machine only.

  data       {}
  survives   {survives}
  workflows  {}
  runs       {runs}

Try in another terminal:",
            it.location,
            everstep_demo::NAMES.join(", "),
        ))?;
        for (command, about) in SUGGESTIONS {
            let about = match *about {
                "" => String::new(),
                about => paint.paint(Colour::Quiet, &format!("   # {about}")),
            };
            self.out.line(&format!("  {command}{}{about}", it.flags))?;
        }
        let hint = match it.durability {
            Some(_) => {
                "\nKill this server (kill -9) and start it again: all runs continue where they were.\n"
            }
            None => "\nAll runs are lost when this server ends. Without --memory they continue.\n",
        };
        Ok(self.out.coloured_line(Colour::Quiet, hint)?)
    }

    pub(super) fn show(&mut self, line: &Line) -> anyhow::Result<()> {
        let Line { run, entry } = line;
        if self.out.is_json {
            let record = RawValue::from_string(entry_to_json(entry)?)?;
            return self.out.json(&RecordLine { run, record });
        }
        if !self.runs.contains(run) {
            self.runs.push(run.clone());
        }
        let name = self.name(run);
        for rendered in self.timeline.add(run, std::slice::from_ref(entry)) {
            let prefix = format!("{name}  ");
            let line = rendered.format(&mut self.clock, self.out.paint, &prefix);
            self.out.line(&line)?;
        }
        Ok(())
    }

    pub(super) fn shutting_down(&mut self, is_durable: bool) -> anyhow::Result<()> {
        if self.out.is_json {
            return self.out.json(&shutting_down());
        }
        let text = match is_durable {
            true => SHUTTING_DOWN,
            false => "shutting down; the runs end with this server",
        };
        Ok(self.out.line(&format!("\n{text}"))?)
    }

    /// The run's ID in its colour, padded to the longest ID.
    fn name(&self, run: &RunId) -> String {
        const WIDTH_MAX: usize = 32;
        let widths = self.runs.iter().map(|run| run.as_str().len());
        let width = widths
            .filter(|width| *width <= WIDTH_MAX)
            .max()
            .unwrap_or(0);
        let padded = format!("{:width$}", run.as_str());
        let index = self.runs.iter().position(|known| known == run);
        let colour = Colour::Run(index.unwrap_or(0));
        self.out.paint.paint(colour, &padded)
    }
}

/// Returns what happens to the unfinished runs, such as `continuing 1 unfinished run; 2 unfinished
/// runs wait for a worker that offers `order``.
fn describe_unfinished(runs: &UnfinishedRuns) -> String {
    let count = |number: usize| match number {
        1 => "1 unfinished run".to_owned(),
        number => format!("{number} unfinished runs"),
    };
    let continuing = match runs.continuing {
        0 => None,
        number => Some(format!("continuing {}", count(number))),
    };
    let waiting = runs.unoffered.iter().map(|(workflow, number)| {
        let verb = if *number == 1 { "waits" } else { "wait" };
        let runs = count(*number);
        format!("{runs} {verb} for a worker that offers `{workflow}`")
    });
    let parts: Vec<String> = continuing.into_iter().chain(waiting).collect();
    match parts.is_empty() {
        true => "none unfinished".to_owned(),
        false => parts.join("; "),
    }
}
