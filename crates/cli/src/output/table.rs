//! Tables with columns as wide as their content.

use super::colour::{Colour, Paint};
use super::text::escape_controls;

const GAP: &str = "   ";

pub(crate) type Cell = (String, Colour);

pub(crate) fn plain(text: impl ToString) -> Cell {
    (text.to_string(), Colour::Plain)
}

/// The first row is the head.
pub(crate) struct Table(Vec<Vec<Cell>>);

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        let head = head.iter().map(|&title| (title.to_owned(), Colour::Strong));
        Self(vec![head.collect()])
    }

    /// Adds a row. Cells may contain user input, so control characters are escaped.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells = cells.into_iter();
        let cells = cells.map(|(text, colour)| (escape_controls(&text), colour));
        self.0.push(cells.collect());
    }

    pub(crate) fn render(&self, paint: &Paint) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|at| self.width(at)).collect();
        let mut text = String::new();
        for row in &self.0 {
            let last = row.len().saturating_sub(1);
            for (at, ((cell, colour), width)) in row.iter().zip(&widths).enumerate() {
                text.push_str(&paint.paint(*colour, cell));
                if at < last {
                    let padding = width.saturating_sub(cell.chars().count());
                    text.push_str(&" ".repeat(padding));
                    text.push_str(GAP);
                }
            }
            text.push('\n');
        }
        text
    }

    fn width(&self, at: usize) -> usize {
        let cells = self.0.iter().filter_map(|row| row.get(at));
        let widths = cells.map(|(cell, _)| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_and_without_colours() {
        let mut table = Table::new(&["RUN", "STATUS"]);
        table.row([plain("order-17"), ("failed".to_owned(), Colour::Bad)]);
        table.row([plain("ü"), ("ok".to_owned(), Colour::Good)]);
        let plain = "RUN        STATUS\norder-17   failed\nü          ok\n";
        assert_eq!(table.render(&Paint::NONE), plain);
        let painted = table.render(&Paint::ALL);
        let uncoloured = ["\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"]
            .iter()
            .fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(uncoloured, plain);
    }

    #[test]
    fn control_characters_in_cells_are_escaped() {
        let mut table = Table::new(&["A"]);
        table.row([plain("\x1b[2J\x07")]);
        let text = table.render(&Paint::NONE);
        assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
    }
}
