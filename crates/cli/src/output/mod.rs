//! Output of commands: lines, tables and colours for people, JSON for programs.

mod colour;
mod progress;
mod table;
mod text;

use std::io::Write;

use serde::Serialize;

use crate::exit::Exit;

pub(crate) use colour::{Colour, Paint};
pub(crate) use progress::{ProgressBar, ProgressLine};
pub(crate) use table::{Cell, Table, plain};
pub(crate) use text::{escape_controls, format_duration, relative_time, shell_word, truncate};

pub(crate) struct Output {
    pub(crate) is_json: bool,
    pub(crate) paint: Paint,
}

impl Output {
    pub(crate) fn new(is_json: bool) -> Self {
        Self {
            is_json,
            paint: Paint::of_stdout(),
        }
    }

    /// Prints a line of text.
    pub(crate) fn line(&self, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stdout(), "{text}")
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        writeln!(std::io::stdout(), "{text}")?;
        Ok(())
    }

    /// Prints a message to stderr, so that stdout contains nothing but the result.
    pub(crate) fn notice(&self, text: &str) {
        let text = escape_controls(text);
        let text = match self.is_json {
            true => serde_json::json!({"notice": text}).to_string(),
            false => text,
        };
        ProgressLine::new(self.is_json).clear();
        // The command continues if stderr is closed.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    pub(crate) fn coloured_line(&self, colour: Colour, text: &str) -> std::io::Result<()> {
        self.line(&self.paint.paint(colour, text))
    }

    pub(crate) fn table(&self, table: &Table) -> std::io::Result<()> {
        std::io::stdout().write_all(table.render(&self.paint).as_bytes())
    }

    /// Prints the result of a command, as JSON or text.
    pub(crate) fn result(&self, value: &impl Serialize, text: &str) -> anyhow::Result<Exit> {
        match self.is_json {
            true => self.json(value)?,
            false => self.line(text)?,
        }
        Ok(Exit::Success)
    }

    /// Prints one line of JSON for each value.
    pub(crate) fn json_lines(&self, values: &[impl Serialize]) -> anyhow::Result<Exit> {
        values.iter().try_for_each(|value| self.json(value))?;
        Ok(Exit::Success)
    }
}
