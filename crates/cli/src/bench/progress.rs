//! What is going on, on stderr: one line that changes on a terminal, one line per stage elsewhere.

use std::io::{IsTerminal, Write};

/// Tells whoever waits.
pub(super) struct Progress {
    live: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            live: std::io::stderr().is_terminal(),
        }
    }

    /// A stage began.
    pub(super) fn say(&self, text: &str) {
        // Progress that cannot be shown is no reason to stop.
        let _ = if self.live {
            write!(std::io::stderr(), "\r\x1b[2K{text} …")
        } else {
            writeln!(std::io::stderr(), "{text}")
        };
    }

    /// How far the stage is; only where it can replace what it said before.
    pub(super) fn update(&self, text: &str) {
        if self.live {
            self.say(text);
        }
    }

    /// Makes room for the result.
    pub(super) fn clear(&self) {
        if self.live {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
