//! What all searches share: threads with progress reports, and the output of their results.

use std::time::Duration;

/// The interval of progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(500);
/// The interval at which progress is printed, in seconds.
const PRINT_EVERY_SECS: u64 = 5;
/// The number of lines of a timeline that are printed.
const LINES_MAX: usize = 120;
/// The length to which printed lines are cut.
const CHARS_MAX: usize = 400;

/// Runs `work` on each of the threads, and calls `report` regularly until all of them have
/// returned.
pub(crate) fn run_on_threads(threads: usize, work: impl Fn() + Sync, mut report: impl FnMut()) {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::park_timeout(REPORT_EVERY);
            report();
        }
    });
}

/// Prints the progress of a search from time to time.
#[derive(Debug, Default)]
pub struct ProgressPrinter {
    printed_at_secs: u64,
}

impl ProgressPrinter {
    pub fn print(&mut self, took: Duration, line: impl FnOnce() -> String) {
        if took.as_secs() >= self.printed_at_secs + PRINT_EVERY_SECS {
            self.printed_at_secs = took.as_secs();
            println!("{}", line());
        }
    }
}

/// Prints the last lines of a timeline.
pub fn print_end_of_timeline(timeline: &str) {
    let lines: Vec<_> = timeline.lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LINES_MAX)) {
        println!("{}", cut(line));
    }
}

/// Prints why the result of a search is not valid. Returns whether it is.
#[must_use]
pub fn print_shortfalls(shortfalls: &[String]) -> bool {
    for shortfall in shortfalls {
        println!("{shortfall}");
    }
    shortfalls.is_empty()
}

/// Shortens a line for printing.
#[must_use]
pub fn cut(line: &str) -> String {
    line.chars().take(CHARS_MAX).collect()
}
