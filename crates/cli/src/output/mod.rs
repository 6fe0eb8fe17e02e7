//! Output of commands: lines, tables and colours for people, JSON for programs.

mod colour;
mod progress_bar;
mod table;
mod text;

use std::io::Write;

use serde::Serialize;

use crate::exit::Exit;

pub(crate) use colour::{Colour, Paint};
pub(crate) use progress_bar::ProgressBar;
pub(crate) use table::{Cell, Table, plain};
pub(crate) use text::{escape_controls, format_duration, relative_time, truncate};

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
