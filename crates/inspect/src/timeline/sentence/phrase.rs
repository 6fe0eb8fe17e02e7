//! Parts of the timeline's sentences. What is not known leaves no trace.

use std::fmt;
use std::time::Duration;

use everstep_model::{Location, Timestamp};

use super::super::lasting::Lasting;

/// ` after 3s`
pub(super) struct After(pub(super) Option<Duration>);

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(lasted) => write!(f, " after {}", Lasting(lasted)),
            None => Ok(()),
        }
    }
}

/// ` in 3s`
pub(super) struct In(pub(super) Option<Duration>);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(lasted) => write!(f, " in {}", Lasting(lasted)),
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
pub(super) struct Place<'a>(pub(super) &'a Option<Location>);

impl fmt::Display for Place<'_> {
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
