//! Optional parts of sentences: each displays as nothing if its value is not known.

use std::fmt;
use std::time::Duration;

use everstep_model::{Location, Timestamp};

use super::super::duration::ShortDuration;

/// ` after 3s`
pub(super) struct After(pub(super) Option<Duration>);

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(duration) => write!(f, " after {}", ShortDuration(duration)),
            None => Ok(()),
        }
    }
}

/// ` in 3s`
pub(super) struct In(pub(super) Option<Duration>);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(duration) => write!(f, " in {}", ShortDuration(duration)),
            None => Ok(()),
        }
    }
}

/// `, until 2026-11-15T08:00:00.000Z`
pub(super) struct Until(pub(super) Option<Timestamp>);

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(until) => write!(f, ", until {until}"),
            None => Ok(()),
        }
    }
}

/// `` `charge:0` `` with a space before it.
pub(super) struct At<'a>(pub(super) &'a Option<Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => write!(f, " `{location}`"),
            None => Ok(()),
        }
    }
}

/// `1 step`, `2 steps`
pub(super) struct Count(pub(super) u64, pub(super) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// `; 2 steps abandoned`
pub(super) struct Abandoned<'a>(pub(super) &'a [Location]);

impl fmt::Display for Abandoned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => Ok(()),
            count => write!(f, "; {} abandoned", Count(count as u64, "step")),
        }
    }
}

/// `; rolled back in 3s`
pub(super) struct RolledBack(pub(super) bool, pub(super) Option<Duration>);

impl fmt::Display for RolledBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            true => write!(f, "; rolled back{}", In(self.1)),
            false => Ok(()),
        }
    }
}
