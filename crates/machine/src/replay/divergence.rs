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
        Failure::new(ErrorCode::Diverged, Described(self, sites).to_string())
    }
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

/// A divergence and the text of the shell's call sites.
struct Described<'a>(&'a Divergence, &'a [String]);

impl Described<'_> {
    fn write_operation(
        &self,
        f: &mut fmt::Formatter<'_>,
        operation: &(&'static str, Location),
        site: Option<CallSite>,
    ) -> fmt::Result {
        write!(f, "{} `{}`", operation_word(operation.0), operation.1)?;
        let text = |index: u32| self.1.get(usize::try_from(index).ok()?);
        match site {
            Some(CallSite::Shell(index)) => match text(index) {
                Some(text) => write!(f, " (called at {text})"),
                None => Ok(()),
            },
            Some(site) => write!(f, " (called at {site})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Described(self, &[]).fmt(f)
    }
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divergence = self.0;
        match &divergence.recorded {
            Some(recorded) => {
                f.write_str("the journal holds ")?;
                self.write_operation(f, recorded, divergence.recorded_site)?;
            }
            None => f.write_str("the journal holds no further operation")?,
        }
        if let Some(record) = divergence.record {
            write!(f, " at record {record}")?;
        }
        match &divergence.called {
            Some(called) => {
                f.write_str(", but the code called ")?;
                self.write_operation(f, called, divergence.called_site)?;
            }
            None => f.write_str(", but the code did not reach it")?,
        }
        if let Some(detail) = &divergence.detail {
            write!(f, " ({detail})")?;
        }
        f.write_str(
            ". Workflow code must do the same for the same journal: register the code that wrote it, or put the change \
             behind ctx.version(..); keep clocks, randomness and I/O inside steps",
        )
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
}
