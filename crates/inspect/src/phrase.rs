//! Optional parts of sentences, shared by several readers.

use std::fmt;

use everstep_model::{Location, Name};

/// Displays a prefix, a value and a suffix, or nothing if there is no value.
pub(crate) struct Part<T>(&'static str, Option<T>, &'static str);

impl<T: fmt::Display> fmt::Display for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.1 {
            Some(value) => write!(f, "{}{value}{}", self.0, self.2),
            None => Ok(()),
        }
    }
}

pub(crate) fn part<T>(prefix: &'static str, value: Option<T>) -> Part<T> {
    Part(prefix, value, "")
}

/// ` by alice`
pub(crate) fn by(by: &Option<String>) -> Part<&String> {
    part(" by ", by.as_ref())
}

/// `: maintenance`
pub(crate) fn because<T>(reason: &Option<T>) -> Part<&T> {
    part(": ", reason.as_ref())
}

/// Displays a location in backticks, after a prefix that ends with one.
pub(crate) fn located<'a>(
    prefix: &'static str,
    location: Option<&'a Location>,
) -> Part<&'a Location> {
    Part(prefix, location, "`")
}

/// `` `a` or `b` ``: names and their separator.
pub(crate) struct Listed<'a>(pub(crate) &'a [Name], pub(crate) &'a str);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { self.1 };
            write!(f, "{between}`{name}`")?;
        }
        Ok(())
    }
}

/// `1 step`, `2 steps`
pub(crate) struct Count(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}
