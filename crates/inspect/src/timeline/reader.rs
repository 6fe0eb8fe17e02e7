//! Reads a timeline in pages. What a page must know about earlier records is in the position of the
//! reader, which can be stored as text, so that the cost of a page does not depend on its place in
//! the journal.

use std::collections::BTreeMap;

use everstep_model::{Entry, Location, Name, RecordNumber, Scope, Timestamp};
use serde::{Deserialize, Serialize};

use super::build::{Before, lines};
use super::elapsed::{Operation, Stopwatch};
use super::line::Line;

/// The maximum length of the text of a position in bytes. If more operations are in flight than
/// fit, their lines have no duration.
const TEXT_BYTES_MAX: usize = 4_096;

/// A position in a journal, from which its timeline continues.
#[derive(Debug, Default)]
pub struct TimelineReader {
    next: RecordNumber,
    stopwatch: Stopwatch,
}

/// A position as text.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    next: RecordNumber,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    execution: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rollback: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operations: Vec<(Location, Operation, Timestamp)>,
    /// Iterations, each by an operation inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    iterations: Vec<(Location, Timestamp)>,
}

impl TimelineReader {
    /// Begins at a record. Lines of operations that began before it have a duration only if their
    /// records contain it.
    #[must_use]
    pub fn at(next: RecordNumber) -> Self {
        Self {
            next,
            stopwatch: Stopwatch::default(),
        }
    }

    /// Returns the number of the record that is needed next.
    #[must_use]
    pub fn next(&self) -> RecordNumber {
        self.next
    }

    /// Names the time of the first record, if the reader does not begin there.
    pub fn set_created(&mut self, created_at: Timestamp) {
        self.stopwatch.run.get_or_insert(created_at);
    }

    /// Returns the lines of the next records: those from [`next`](Self::next) on.
    pub fn read(&mut self, entries: &[Entry]) -> Vec<Line> {
        let before = match self.next.0.checked_sub(1) {
            None => Before::Nothing,
            Some(number) => Before::Records(RecordNumber(number)),
        };
        let lines = lines(entries, before, &mut self.stopwatch);
        if let Some(last) = entries.last() {
            self.next = last.number.plus(1);
        }
        lines
    }

    /// Returns the position as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Stopwatch {
            run,
            execution,
            pause,
            rollback,
            operations,
            iterations,
        } = &self.stopwatch;
        let operations = operations.iter();
        let operations = operations.map(|((at, what), since)| (at.clone(), *what, *since));
        let iterations = iterations.iter();
        let position = Position {
            next: self.next,
            run: *run,
            execution: *execution,
            pause: *pause,
            rollback: *rollback,
            operations: operations.collect(),
            iterations: iterations
                .filter_map(|(scope, since)| Some((inside(scope)?, *since)))
                .collect(),
        };
        let text = serde_json::to_string(&position).unwrap_or_default();
        if text.len() <= TEXT_BYTES_MAX {
            return text;
        }
        let short = Position {
            operations: Vec::new(),
            iterations: Vec::new(),
            ..position
        };
        serde_json::to_string(&short).unwrap_or_default()
    }

    /// Continues at a position that [`to_text`](Self::to_text) returned.
    pub fn from_text(text: &[u8]) -> Result<Self, serde_json::Error> {
        let position: Position = serde_json::from_slice(text)?;
        let operations = position.operations.into_iter();
        let iterations = position.iterations.into_iter();
        Ok(Self {
            next: position.next,
            stopwatch: Stopwatch {
                run: position.run,
                execution: position.execution,
                pause: position.pause,
                rollback: position.rollback,
                operations: operations
                    .map(|(at, what, since)| ((at, what), since))
                    .collect(),
                iterations: iterations
                    .map(|(at, since)| (at.scope, since))
                    .collect::<BTreeMap<_, _>>(),
            },
        })
    }
}

/// Returns an operation inside a scope.
fn inside(scope: &Scope) -> Option<Location> {
    Some(Location {
        scope: scope.clone(),
        name: Name::new("iteration").ok()?,
        counter: 0,
    })
}
