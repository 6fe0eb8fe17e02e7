//! A progress bar on stderr. Draws nothing if stderr is not a terminal.

use std::io::{IsTerminal, Write};

const WIDTH: usize = 30;

pub(crate) struct ProgressBar {
    is_visible: bool,
    label: &'static str,
    total: usize,
}

impl ProgressBar {
    pub(crate) fn new(label: &'static str, total: usize, is_json: bool) -> Self {
        Self {
            is_visible: std::io::stderr().is_terminal() && !is_json,
            label,
            total,
        }
    }

    pub(crate) fn set(&self, done: usize) {
        if self.is_visible {
            // The command continues if stderr is closed.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{}", self.render(done));
        }
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

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.is_visible {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_filled_in_proportion() {
        let bar = ProgressBar {
            is_visible: false,
            label: "pause",
            total: 4,
        };
        assert_eq!(bar.render(0).matches('█').count(), 0);
        assert_eq!(bar.render(2).matches('█').count(), 15);
        assert_eq!(bar.render(4).matches('█').count(), 30);
        assert!(bar.render(4).ends_with("4/4"));
    }
}
