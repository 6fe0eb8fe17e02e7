//! Progress on stderr: a line that is replaced in place, and a bar. Both draw nothing if stderr is
//! not a terminal.

use std::io::{IsTerminal, Write};

const WIDTH: usize = 30;
const ERASE_LINE: &str = "\r\x1b[2K";

/// A line that is erased when it is dropped.
pub(crate) struct ProgressLine {
    pub(crate) is_visible: bool,
}

impl ProgressLine {
    pub(crate) fn new(is_json: bool) -> Self {
        Self {
            is_visible: std::io::stderr().is_terminal() && !is_json,
        }
    }

    pub(crate) fn set(&self, text: &str) {
        self.write(text);
    }

    pub(crate) fn clear(&self) {
        self.write("");
    }

    fn write(&self, text: &str) {
        if self.is_visible {
            // The command continues if stderr is closed.
            let _ = write!(std::io::stderr(), "{ERASE_LINE}{text}");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

pub(crate) struct ProgressBar {
    line: ProgressLine,
    label: &'static str,
    total: usize,
}

impl ProgressBar {
    pub(crate) fn new(label: &'static str, total: usize, is_json: bool) -> Self {
        Self {
            line: ProgressLine::new(is_json),
            label,
            total,
        }
    }

    pub(crate) fn set(&self, done: usize) {
        self.line.set(&self.render(done));
    }

    fn render(&self, done: usize) -> String {
        let filled = (done * WIDTH)
            .checked_div(self.total)
            .unwrap_or(WIDTH)
            .min(WIDTH);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
        format!("{} {bar} {done}/{}", self.label, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_filled_in_proportion() {
        let bar = ProgressBar {
            line: ProgressLine { is_visible: false },
            label: "pause",
            total: 4,
        };
        assert_eq!(bar.render(0).matches('█').count(), 0);
        assert_eq!(bar.render(2).matches('█').count(), 15);
        assert_eq!(bar.render(4).matches('█').count(), 30);
        assert!(bar.render(4).ends_with("4/4"));
    }
}
