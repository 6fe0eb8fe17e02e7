//! Progress on stderr: one changing line on a terminal, otherwise one line per stage.

use std::io::{IsTerminal, Write};

pub(crate) struct Progress {
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn stage(&self, text: &str) {
        // The benchmark continues if stderr is closed.
        let _ = if self.is_terminal {
            write!(std::io::stderr(), "\r\x1b[2K{text} …")
        } else {
            writeln!(std::io::stderr(), "{text}")
        };
    }

    /// Reports progress within the stage. Prints nothing if it cannot replace the previous line.
    pub(crate) fn update(&self, text: &str) {
        if self.is_terminal {
            self.stage(text);
        }
    }

    /// Removes the progress line before the result is printed.
    pub(crate) fn clear(&self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
