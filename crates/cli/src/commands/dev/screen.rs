//! The output of `dev`: commands to try, then the timeline of all runs as text or JSON lines.

use everstep::RunId;
use everstep::journal::entry_to_json;
use serde::Serialize;
use serde_json::value::RawValue;

use super::watch::Line;
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

pub(super) struct Screen {
    out: Output,
    /// In order of appearance, which determines their colours.
    runs: Vec<RunId>,
    timeline: LiveTimeline,
}

impl Screen {
    pub(super) fn new(is_json: bool) -> Self {
        Self {
            out: Output::new(is_json),
            runs: Vec::new(),
            timeline: LiveTimeline::default(),
        }
    }

    pub(super) fn introduce(
        &mut self,
        url: &str,
        location: &str,
        durability: &str,
        unfinished: usize,
    ) -> anyhow::Result<()> {
        if self.out.is_json {
            return self.out.json(&serde_json::json!({"listening": url}));
        }
        let paint = self.out.paint;
        let address = paint.paint(Colour::Strong, url);
        let runs = match unfinished {
            0 => "none unfinished".to_owned(),
            1 => "continuing 1 unfinished run".to_owned(),
            count => format!("continuing {count} unfinished runs"),
        };
        self.out.line(&format!(
            "Everstep listens on {address}, for this machine only.

  data       {location}
  survives   {durability}
  workflows  hello, payment, expense
  runs       {runs}

Try in another terminal:"
        ))?;
        for (command, about) in SUGGESTIONS {
            let about = match *about {
                "" => String::new(),
                about => paint.paint(Colour::Quiet, &format!("   # {about}")),
            };
            self.out.line(&format!("  {command}{about}"))?;
        }
        let hint =
            "\nKill this server (kill -9) and start it again: all runs continue where they were.\n";
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
            let line = rendered.format(self.out.paint, &format!("{name}  "));
            self.out.line(&line)?;
        }
        Ok(())
    }

    pub(super) fn note(&mut self, text: &str) -> std::io::Result<()> {
        match self.out.is_json {
            true => Ok(()),
            false => self.out.line(&format!("\n{text}")),
        }
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
