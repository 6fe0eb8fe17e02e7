//! The timeline of a simulation as text: one line for each thing that happened.

use std::time::Duration;

/// Lines with the simulated time at which each was added.
#[derive(Clone, Debug, Default)]
pub struct Timeline(Vec<String>);

impl Timeline {
    /// Adds a line.
    pub fn add(&mut self, at: Duration, what: &str) {
        self.0.push(format!("{:>16}  {what}", format_moment(at)));
    }

    /// Returns the lines, in order.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

/// Formats a time since the start, such as `1d 02:30:00.000`. Microseconds are shown if there are
/// any.
#[must_use]
pub fn format_moment(at: Duration) -> String {
    let seconds = at.as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let days = match days {
        0 => String::new(),
        days => format!("{days}d "),
    };
    let micros = match at.subsec_micros() % 1_000 {
        0 => String::new(),
        micros => format!("{micros:03}"),
    };
    let millis = at.subsec_millis();
    format!("{days}{hours:02}:{minutes:02}:{seconds:02}.{millis:03}{micros}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_like_a_clock() {
        let formatted = |micros| format_moment(Duration::from_micros(micros));
        assert_eq!(formatted(61_005_000), "00:01:01.005");
        assert_eq!(formatted(61_005_020), "00:01:01.005020");
        assert_eq!(formatted(90_000_000_000), "1d 01:00:00.000");
    }

    #[test]
    fn a_line_has_the_time_and_the_text() {
        let mut timeline = Timeline::default();
        timeline.add(Duration::from_secs(1), "a process starts");
        assert_eq!(timeline.lines(), ["    00:00:01.000  a process starts"]);
    }
}
