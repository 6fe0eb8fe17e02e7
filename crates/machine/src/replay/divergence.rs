//! Code that no longer fits its journal, and the other reasons for which a run cannot go on here.

use std::fmt;

use everstep_model::{ErrorCode, Failure, Location, RecordNumber};

/// Where in the source an operation was called.
pub type CallSite = &'static std::panic::Location<'static>;

/// The journal holds one thing, the code did another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divergence {
    /// The record at which they part, if the journal holds one there.
    pub record: Option<RecordNumber>,
    /// What the journal holds: the record's type name and place.
    pub recorded: Option<(&'static str, Location)>,
    /// Where the code called what is recorded, if that was in this process.
    pub recorded_site: Option<CallSite>,
    /// What the code called instead; none if it ended or waits.
    pub called: Option<(&'static str, Location)>,
    /// Where it called that.
    pub called_site: Option<CallSite>,
    /// What else differs.
    pub detail: Option<String>,
}

impl Divergence {
    /// The place to show: where the code is, or else where the journal is.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        let place = self.called.as_ref().or(self.recorded.as_ref());
        place.map(|(_, location)| location)
    }

    /// As the error a parked run shows.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure::new(ErrorCode::Diverged, self.to_string())
    }
}

/// The word people use for an operation that begins with a record of this type.
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

fn write_operation(
    f: &mut fmt::Formatter<'_>,
    operation: &(&'static str, Location),
    site: Option<CallSite>,
) -> fmt::Result {
    write!(f, "{} `{}`", operation_word(operation.0), operation.1)?;
    match site {
        Some(site) => write!(f, " (called at {}:{})", site.file(), site.line()),
        None => Ok(()),
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.recorded {
            Some(recorded) => {
                f.write_str("the journal holds ")?;
                write_operation(f, recorded, self.recorded_site)?;
            }
            None => f.write_str("the journal holds no further operation")?,
        }
        if let Some(record) = self.record {
            write!(f, " at record {record}")?;
        }
        match &self.called {
            Some(called) => {
                f.write_str(", but the code called ")?;
                write_operation(f, called, self.called_site)?;
            }
            None => f.write_str(", but the code did not reach it")?,
        }
        if let Some(detail) = &self.detail {
            write!(f, " ({detail})")?;
        }
        f.write_str(
            ". Workflow code must do the same for the same journal: register the code that wrote it, or put the change \
             behind ctx.version(..); keep clocks, randomness and I/O inside steps",
        )
    }
}

/// Why a run cannot go on in this execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The code no longer fits the journal: park the run.
    Diverged(Box<Divergence>),
    /// The code awaited, or acted on, something that is not durable: the run fails.
    NotDurable(String),
    /// The journal holds records this release cannot execute: leave the run to a newer one.
    Newer(&'static str),
    /// The journal is not one that an engine wrote.
    Damaged(String),
}
