//! What commands print: tables and colours for people, JSON for programs. Colours only where somebody looks.

mod paint;
mod progress;
mod table;
mod words;

use std::io::Write;

use serde::Serialize;

pub(crate) use paint::{Colour, Paint};
pub(crate) use progress::Bar;
pub(crate) use table::Table;
pub(crate) use words::{ago, clean, lasting, short};

/// Where a command prints.
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

    /// A line for people.
    pub(crate) fn line(&self, text: &str) -> std::io::Result<()> {
        writeln!(std::io::stdout(), "{text}")
    }

    /// A value for programs, on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        writeln!(std::io::stdout(), "{text}")?;
        Ok(())
    }

    /// A table for people.
    pub(crate) fn table(&self, table: &Table) -> std::io::Result<()> {
        std::io::stdout().write_all(table.render(&self.paint).as_bytes())
    }
}
