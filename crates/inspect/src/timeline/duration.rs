//! Short durations: at most two units, rounded down.

use std::fmt;
use std::time::Duration;

/// `850ms`, `1.25s`, `3m 20s`, `2h 5m`, `3d 4h`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortDuration(pub(super) Duration);

impl fmt::Display for ShortDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0.as_secs(), self.0.subsec_millis());
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
        match seconds {
            0 => write!(f, "{millis}ms"),
            1..60 if millis < 10 => write!(f, "{seconds}s"),
            1..60 => write!(f, "{seconds}.{:02}s", millis / 10),
            60..3_600 => pair(f, (minutes, "m"), (seconds % 60, "s")),
            3_600..86_400 => pair(f, (hours, "h"), (minutes % 60, "m")),
            _ => pair(f, (days, "d"), (hours % 24, "h")),
        }
    }
}

fn pair(f: &mut fmt::Formatter<'_>, large: (u64, &str), small: (u64, &str)) -> fmt::Result {
    write!(f, "{}{}", large.0, large.1)?;
    match small {
        (0, _) => Ok(()),
        (count, unit) => write!(f, " {count}{unit}"),
    }
}

#[cfg(test)]
mod tests;
