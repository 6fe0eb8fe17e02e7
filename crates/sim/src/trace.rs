//! The timeline of a simulation: one line for each call, fault and request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use everstep_engine::simulation::Timeline;

/// A timeline that several tasks write to. Nothing is formatted unless it is kept.
#[derive(Debug)]
pub struct Trace(Option<Mutex<Timeline>>);

impl Trace {
    #[must_use]
    pub fn new(is_kept: bool) -> Self {
        Self(is_kept.then(Mutex::default))
    }

    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a line about an actor.
    pub fn log(&self, micros: u64, actor: &str, what: impl FnOnce() -> String) {
        let Some(timeline) = &self.0 else { return };
        let line = format!("{actor:<9} {}", what());
        let mut timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
        timeline.add(Duration::from_micros(micros), &line);
    }

    /// Returns the timeline so far.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(timeline) = &self.0 else {
            return String::new();
        };
        let timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = timeline.lines().iter().map(|line| format!("{line}\n"));
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_actor_and_text() {
        let trace = Trace::new(true);
        trace.log(1_500_000, "node 1", || "#3 commit".to_owned());
        assert_eq!(trace.text(), "    00:00:01.500  node 1    #3 commit\n");
        Trace::new(false).log(0, "node 1", || unreachable!("nothing is kept"));
    }
}
