//! Code that no longer fits its journal, and other reasons why an execution cannot continue.

use std::fmt;

use everstep_model::{ErrorCode, Failure, Location, RecordNumber};

/// Where in the source an operation was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSite {
    /// In Rust code.
    Rust(&'static std::panic::Location<'static>),
    /// In code of another language: an index into a table that the shell of that language filled.
    Shell(u32),
}

impl CallSite {
    /// Returns the caller of this function.
    #[must_use]
    #[track_caller]
    pub fn caller() -> Self {
        Self::Rust(std::panic::Location::caller())
    }
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rust(site) => write!(f, "{}:{}", site.file(), site.line()),
            Self::Shell(site) => write!(f, "call site {site}"),
        }
    }
}

/// A difference between the journal and the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divergence {
    /// The recorded operation, if there is one.
    pub record: Option<RecordNumber>,
    /// The type name and location of the recorded operation.
    pub recorded: Option<(&'static str, Location)>,
    /// Where the code called the recorded operation, if that was in this process.
    pub recorded_site: Option<CallSite>,
    /// What the code called instead; `None` if it ended or waits.
    pub called: Option<(&'static str, Location)>,
    /// Where the code called it.
    pub called_site: Option<CallSite>,
    /// What else differs.
    pub detail: Option<String>,
}

impl Divergence {
    /// Returns the location to show: that of the code, or else that of the journal.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        let operation = self.called.as_ref().or(self.recorded.as_ref());
        operation.map(|(_, location)| location)
    }

    /// Returns the error of the parked run. `sites` contains the text of the shell's call sites.
    #[must_use]
    pub fn failure(&self, sites: &[String]) -> Failure {
        Failure::new(ErrorCode::Diverged, self.describe(sites))
    }

    fn describe(&self, sites: &[String]) -> String {
        let operation = |(record, location): &(&'static str, Location), site: Option<CallSite>| {
            let site = match site {
                Some(CallSite::Shell(index)) => {
                    let index = usize::try_from(index).ok();
                    index.and_then(|index| sites.get(index)).cloned()
                }
                site => site.map(|site| site.to_string()),
            };
            let called_at = optional(" (called at ", site, ")");
            format!("{} `{location}`{called_at}", operation_word(record))
        };
        let recorded = match &self.recorded {
            Some(recorded) => operation(recorded, self.recorded_site),
            None => "no further operation".to_owned(),
        };
        let record = optional(" at record ", self.record, "");
        let called = match &self.called {
            Some(called) => format!("called {}", operation(called, self.called_site)),
            None => "did not reach it".to_owned(),
        };
        let detail = optional(" (", self.detail.as_ref(), ")");
        format!(
            "the journal holds {recorded}{record}, but the code {called}{detail}. Workflow code must do the same for the \
             same journal: register the code that wrote it, or put the change behind ctx.version(..); keep clocks, \
             randomness and I/O inside steps"
        )
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&[]))
    }
}

fn optional(before: &str, value: Option<impl fmt::Display>, after: &str) -> String {
    value.map_or_else(String::new, |value| format!("{before}{value}{after}"))
}

/// Returns the user-facing word for an operation that begins with a record of this type.
fn operation_word(type_name: &str) -> &str {
    match type_name {
        "step_started" => "step",
        "step_abandoned" => "the dropping of step",
        "sleeping" => "sleep",
        "waiting" => "wait for event",
        "wait_completed" => "the end of wait",
        "wait_timed_out" => "the timeout of wait",
        "rpc_requested" => "rpc",
        "rpc_completed" => "the end of rpc",
        "loop_advanced" => "loop",
        "state_changed" => "row",
        "emitted" => "emit",
        "version_chosen" => "version",
        other => other,
    }
}

/// Why an execution cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The code no longer fits the journal: park the run.
    Diverged(Box<Divergence>),
    /// The code awaited, or acted on, something that is not durable: the run fails.
    NotDurable(String),
    /// The journal contains records that this release cannot execute: leave the run to a newer one.
    Newer(&'static str),
    /// The journal is not one that an engine wrote.
    Damaged(String),
    /// The engine refused to store what this execution appended: park the run.
    Refused(Box<Failure>),
}
