//! Tables with columns as wide as their content.

use super::colour::{Colour, Paint};
use super::text::escape_controls;

const GAP: &str = "   ";

pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<(String, Colour)>>,
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells may contain user input, so control characters are escaped.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (String, Colour)>) {
        let cells = cells.into_iter();
        let cells = cells.map(|(text, colour)| (escape_controls(&text), colour));
        self.rows.push(cells.collect());
    }

    pub(crate) fn render(&self, paint: &Paint) -> String {
        let widths: Vec<usize> = (0..self.head.len()).map(|at| self.width(at)).collect();
        let head = self
            .head
            .iter()
            .map(|&title| (title.to_owned(), Colour::Strong));
        let head: Vec<_> = head.collect();
        let mut text = String::new();
        for row in std::iter::once(&head).chain(&self.rows) {
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
        let title = self.head.get(at).map_or(0, |title| title.len());
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let widths = cells.map(|(cell, _)| cell.chars().count());
        widths.chain([title]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_with_and_without_colours() {
        let mut table = Table::new(&["RUN", "STATUS"]);
        table.row([
            ("order-17".to_owned(), Colour::Plain),
            ("failed".to_owned(), Colour::Bad),
        ]);
        table.row([
            ("ü".to_owned(), Colour::Plain),
            ("ok".to_owned(), Colour::Good),
        ]);
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
        table.row([("\x1b[2J\x07".to_owned(), Colour::Plain)]);
        let text = table.render(&Paint::NONE);
        assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
    }
}
