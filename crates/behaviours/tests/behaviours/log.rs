//! What the engine logs during a test.

use std::io;
use std::sync::{Arc, Mutex};

/// The lines that were logged.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Records what this thread logs until the guard is dropped.
    pub(crate) fn record(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false);
        tracing::subscriber::set_default(lines.with_writer(move || log.clone()).finish())
    }

    /// Returns the number of lines that contain a text.
    pub(crate) fn lines_with(&self, text: &str) -> usize {
        let bytes = self.0.lock().unwrap().clone();
        let lines = String::from_utf8(bytes).unwrap();
        lines.lines().filter(|line| line.contains(text)).count()
    }
}
