//! The terminal: a story for people, or JSON lines for programs. Colours only where somebody looks.

use std::io::{IsTerminal, Stdout, Write};

use everstep::{Entry, RunId, entry_to_json};
use serde::Serialize;
use serde_json::value::RawValue;

use super::company::Left;
use super::story::{Mood, Story};
use super::summary::Row;

/// Something to show.
#[derive(Debug)]
pub(super) enum Line {
    /// A record became durable.
    Record {
        /// Of which run.
        run: RunId,
        /// The record.
        entry: Box<Entry>,
    },
    /// Somebody did something that is not in a journal yet.
    Deed {
        /// To which run.
        run: RunId,
        /// What they did.
        text: String,
    },
}

/// A record in the output for programs.
#[derive(Serialize)]
struct RecordLine<'a> {
    run: &'a RunId,
    record: Box<RawValue>,
}

const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
/// One colour per run: blue, magenta, cyan.
const RUN_COLOURS: [&str; 3] = ["\x1b[34m", "\x1b[35m", "\x1b[36m"];

/// Where everything is shown.
pub(super) struct Screen {
    out: Stdout,
    json: bool,
    colours: bool,
    runs: Vec<RunId>,
    story: Story,
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        let out = std::io::stdout();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = out.is_terminal() && !no_colour && !dumb;
        Self {
            out,
            json,
            colours,
            runs: Vec::new(),
            story: Story::default(),
        }
    }

    /// Which runs there are, so that their lines align.
    pub(super) fn know(&mut self, runs: Vec<RunId>) {
        self.runs = runs;
    }

    pub(super) fn introduce(
        &mut self,
        place: &str,
        durability: &str,
        left: &Left,
    ) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let title = self.paint(BOLD, "Everstep, development mode");
        writeln!(self.out, "{title}\n")?;
        writeln!(self.out, "  data     {place}")?;
        writeln!(self.out, "  survives {durability}")?;
        match left.runs.len() {
            0 => writeln!(
                self.out,
                "  runs     none was left behind; starting one of each demo workflow"
            )?,
            1 => writeln!(self.out, "  runs     picked up 1 that was left behind")?,
            count => writeln!(
                self.out,
                "  runs     picked up {count} that were left behind"
            )?,
        }
        for (row, records) in &left.runs {
            writeln!(
                self.out,
                "           {} ({}, {records} records)",
                row.id, row.status
            )?;
        }
        if left.foreign > 0 {
            let count = left.foreign;
            writeln!(
                self.out,
                "           {count} of workflows that are not registered here stay as they are"
            )?;
        }
        writeln!(self.out)
    }

    pub(super) fn show(&mut self, line: &Line) -> anyhow::Result<()> {
        match line {
            Line::Record { run, entry } if self.json => {
                let record = RawValue::from_string(entry_to_json(entry)?)?;
                let line = serde_json::to_string(&RecordLine { run, record })?;
                writeln!(self.out, "{line}")?;
            }
            Line::Record { run, entry } => {
                let (mood, text) = self.story.tell(run, entry);
                let time = entry.record.time.to_string();
                let clock = time.get(11..23).unwrap_or(&time);
                let text = self.paint(colour(mood), &text);
                let (clock, run) = (self.paint(DIM, clock), self.name(run));
                writeln!(self.out, "{clock}  {run}  {text}")?;
            }
            Line::Deed { .. } if self.json => {}
            Line::Deed { run, text } => {
                let (run, text) = (self.name(run), self.paint(DIM, &format!("({text})")));
                writeln!(self.out, "{:12}  {run}  {text}", "")?;
            }
        }
        Ok(())
    }

    pub(super) fn remark(&mut self, text: &str) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        writeln!(self.out, "\n{text}")
    }

    /// The table of how everything ended, and what to try next.
    pub(super) fn conclude(&mut self, rows: &[Row]) -> std::io::Result<()> {
        if self.json {
            return Ok(());
        }
        let header = ["RUN", "WORKFLOW", "STATUS", "STEPS", "DURATION"].map(str::to_owned);
        let cells: Vec<[String; 5]> = std::iter::once(header)
            .chain(rows.iter().map(Row::cells))
            .collect();
        writeln!(self.out)?;
        for (place, row) in cells.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let lengths = cells
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count());
                let width = lengths.max().unwrap_or(0);
                line.push_str(&format!("{cell:width$}   "));
            }
            let line = line.trim_end();
            let line = if place == 0 {
                self.paint(BOLD, line)
            } else {
                line.to_owned()
            };
            writeln!(self.out, "{line}")?;
        }
        writeln!(self.out, "\nTry next:")?;
        writeln!(
            self.out,
            "  kill -9 it in the middle and run it again: it picks up where it was"
        )?;
        writeln!(
            self.out,
            "  everstep dev --json             the records themselves"
        )?;
        writeln!(
            self.out,
            "  everstep bench seq10            how fast it is here"
        )?;
        writeln!(
            self.out,
            "  examples/demo/src/payment.rs    the workflow you just watched"
        )
    }

    fn name(&self, run: &RunId) -> String {
        let width = self
            .runs
            .iter()
            .map(|run| run.as_str().len())
            .max()
            .unwrap_or(0);
        let padded = format!("{:width$}", run.as_str());
        let place = self.runs.iter().position(|known| known == run).unwrap_or(0);
        let colour = RUN_COLOURS.get(place % RUN_COLOURS.len());
        self.paint(colour.copied().unwrap_or_default(), &padded)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours && !colour.is_empty() {
            format!("{colour}{text}{RESET}")
        } else {
            text.to_owned()
        }
    }
}

fn colour(mood: Mood) -> &'static str {
    match mood {
        Mood::Plain => "",
        Mood::Good => "\x1b[32m",
        Mood::Bad => "\x1b[31m",
        Mood::Waiting => "\x1b[33m",
    }
}
