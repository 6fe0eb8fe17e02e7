//! The timeline of a simulation, for people: one line for each call, fault and request, in the order they happened.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

/// The lines of a timeline. Nothing is formatted unless it is kept.
#[derive(Debug)]
pub struct Trace(Option<Mutex<String>>);

impl Trace {
    /// A timeline that is kept, or not.
    #[must_use]
    pub fn new(is_kept: bool) -> Self {
        Self(is_kept.then(Mutex::default))
    }

    /// Whether it is kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Says what happened at a time, and to whom.
    pub fn say(&self, micros: u64, who: &str, what: impl FnOnce() -> String) {
        let Some(lines) = &self.0 else { return };
        let what = what();
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        let (secs, rest) = (micros / 1_000_000, micros % 1_000_000);
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{secs:>5}.{rest:06} {who:<9} {what}");
    }

    /// The whole timeline so far.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.0.as_ref().map(Mutex::lock);
        let lines = lines.map(|lines| lines.unwrap_or_else(PoisonError::into_inner));
        lines.map(|lines| lines.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_who_and_what() {
        let trace = Trace::new(true);
        trace.say(1_500_000, "node 1", || "#3 commit".to_owned());
        assert_eq!(trace.text(), "    1.500000 node 1    #3 commit\n");
        Trace::new(false).say(0, "nobody", || unreachable!("nothing is kept"));
    }
}
