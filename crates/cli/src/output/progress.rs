//! A bar on stderr for work that takes a while: drawn where somebody looks, silent elsewhere.

use std::io::{IsTerminal, Write};

const WIDTH: usize = 30;

/// How far something is.
pub(crate) struct Bar {
    is_live: bool,
    what: &'static str,
    total: usize,
}

impl Bar {
    pub(crate) fn new(what: &'static str, total: usize, is_json: bool) -> Self {
        Self {
            is_live: std::io::stderr().is_terminal() && !is_json,
            what,
            total,
        }
    }

    pub(crate) fn at(&self, done: usize) {
        if self.is_live {
            // Progress that cannot be shown is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{}", self.drawn(done));
        }
    }

    fn drawn(&self, done: usize) -> String {
        let filled = (done * WIDTH)
            .checked_div(self.total)
            .unwrap_or(WIDTH)
            .min(WIDTH);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
        format!("{} {bar} {done}/{}", self.what, self.total)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.is_live {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_from_nothing_to_full() {
        let bar = Bar {
            is_live: false,
            what: "pause",
            total: 4,
        };
        assert_eq!(bar.drawn(0).matches('█').count(), 0);
        assert_eq!(bar.drawn(2).matches('█').count(), 15);
        assert_eq!(bar.drawn(4).matches('█').count(), 30);
        assert!(bar.drawn(4).ends_with("4/4"));
    }
}
