//! Assertions on journals, with messages that show the difference.

use everstep_inspect::{Overview, StepView};
use everstep_model::{Entry, StepStatus};

use super::difference::difference;

/// A journal with assertions.
#[derive(Clone, Debug)]
pub struct JournalView {
    entries: Vec<Entry>,
}

/// A summary of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// Its location, such as `charge:0`.
    pub location: String,
    /// Its status.
    pub status: StepStatus,
    /// The highest attempt recorded.
    pub attempts: u32,
}

impl JournalView {
    #[allow(missing_docs, reason = "the name explains it")]
    #[must_use]
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    #[allow(missing_docs, reason = "the name explains it")]
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The type names of the records, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        self.entries
            .iter()
            .map(|entry| entry.record.body.type_name())
            .collect()
    }

    /// Kind and location of each record, in order: `step_completed charge:0`, or the kind alone for
    /// records about the run.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let lines = self.entries.iter().map(|entry| {
            let body = &entry.record.body;
            let at = body.location().map(|location| format!(" {location}"));
            format!("{}{}", body.type_name(), at.unwrap_or_default())
        });
        lines.collect()
    }

    /// The number of records of a kind.
    #[must_use]
    pub fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|known| **known == kind).count()
    }

    /// The steps, in the order of their first record.
    #[must_use]
    pub fn steps(&self) -> Vec<StepLine> {
        let line = |step: StepView| StepLine {
            location: step.location.to_string(),
            status: step.status,
            attempts: step.attempts,
        };
        Overview::of(&self.entries)
            .steps
            .into_iter()
            .map(line)
            .collect()
    }

    /// Asserts the type names of all records, in order.
    ///
    /// # Panics
    /// If they differ. The message shows the difference.
    #[track_caller]
    pub fn assert_kinds(&self, expected: &[&str]) {
        assert_records(expected, &self.kinds());
    }

    /// Asserts kind and location of all records, in order, as [`Self::lines`] writes them.
    ///
    /// # Panics
    /// If they differ. The message shows the difference.
    #[track_caller]
    pub fn assert_lines(&self, expected: &[&str]) {
        let lines = self.lines();
        let found: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_records(expected, &found);
    }

    /// Asserts that there is a record of this kind at this location, as [`Self::lines`] writes it.
    ///
    /// # Panics
    /// If there is none. The message shows all records.
    #[track_caller]
    pub fn assert_contains(&self, line: &str) {
        let lines = self.lines();
        assert!(
            lines.iter().any(|known| known == line),
            "the journal holds no `{line}`; it holds:\n{}",
            lines.join("\n")
        );
    }

    /// Asserts location, status and attempts of every step, in the order of their first record.
    ///
    /// # Panics
    /// If they differ. The message shows the difference.
    #[track_caller]
    pub fn assert_steps(&self, expected: &[(&str, StepStatus, u32)]) {
        let write = |location: &str, status: StepStatus, attempts: u32| {
            format!("{location} {status}, attempt {attempts}")
        };
        let expected: Vec<_> = expected
            .iter()
            .map(|(location, status, n)| write(location, *status, *n))
            .collect();
        let steps = self.steps();
        let found: Vec<_> = steps
            .iter()
            .map(|step| write(&step.location, step.status, step.attempts))
            .collect();
        assert!(
            expected == found,
            "the steps differ (- expected, + found):\n{}",
            difference(&expected, &found)
        );
    }
}

#[track_caller]
fn assert_records(expected: &[&str], found: &[&str]) {
    assert!(
        found == expected,
        "the journal holds other records (- expected, + found):\n{}",
        difference(expected, found)
    );
}
