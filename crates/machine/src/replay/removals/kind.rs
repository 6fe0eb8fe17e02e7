//! The kinds of operations that can be removed from the code.

use std::fmt;

use everstep_model::record::BranchesKind;
use everstep_model::{Body, Location, Name, RecordNumber};

use crate::replay::earlier_passes::Remembered;
use crate::replay::loops::iteration_of;

/// The kind of a removed operation. Sends, replies, notes, rows, emits, attributes and points of no
/// return have no names, so they are counted in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub enum RemovedKind {
    Step,
    Sleep,
    /// A wait for events.
    Event,
    Rpc,
    /// A join, with everything in its branches.
    Join,
    /// A race, with everything in its branches.
    Race,
    /// A switch, with everything in the branch it chose.
    Switch,
    /// A loop, with everything in its iterations.
    Loop,
    Child,
    Send,
    /// A reply to an event. A reply that was recorded stays given.
    Reply,
    Note,
    Row,
    Emit,
    Attribute,
    Version,
    /// A point of no return. A run that has passed it stays past it.
    NoReturn,
}

impl fmt::Display for RemovedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().0)
    }
}

impl RemovedKind {
    /// Returns the word for such an operation, the type name of the record with which it begins,
    /// and its name in the journal if that is not the one that the code gives.
    fn names(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::Step => ("step", "step_started", None),
            Self::Sleep => ("sleep", "sleeping", None),
            Self::Event => ("wait for an event", "waiting", None),
            Self::Rpc => ("rpc", "rpc_requested", None),
            Self::Join => ("join", "branches_started", None),
            Self::Race => ("race", "branches_started", None),
            Self::Switch => ("switch", "switch_chosen", None),
            Self::Loop => ("loop", "loop_advanced", None),
            Self::Child => ("child", "child_started", None),
            Self::Send => ("send", "sent", Some("__sent")),
            Self::Reply => ("reply", "replied", Some("__reply")),
            Self::Note => ("note", "note", Some("__note")),
            Self::Row => ("row", "state_changed", Some("__row")),
            Self::Emit => ("emit", "emitted", Some("__emit")),
            Self::Attribute => ("attribute", "attribute_set", Some("__attribute")),
            Self::Version => ("version", "version_chosen", None),
            Self::NoReturn => ("point of no return", "no_return", Some("__no_return")),
        }
    }

    pub(super) fn type_name(self) -> &'static str {
        self.names().1
    }

    /// Returns the name in the journal, if it is not the one that the code gives.
    pub(in crate::replay) fn internal_name(self, name: &Name) -> Option<String> {
        match self {
            Self::Version => Some(format!("__version:{name}")),
            _ => self.names().2.map(str::to_owned),
        }
    }

    /// Returns whether the operation that the journal contains at a location is of this kind.
    pub(super) fn fits(self, lines: &[(RecordNumber, Body)], location: &Location) -> bool {
        let mut own = lines.iter().map(|(_, body)| body);
        match own.find(|body| body.location() == Some(location)) {
            Some(Body::BranchesStarted(record)) => match record.kind {
                BranchesKind::Join => self == Self::Join,
                BranchesKind::Race => self == Self::Race,
            },
            // A wait that resolves at once records only its result.
            Some(Body::WaitCompleted(_) | Body::WaitTimedOut(_)) => self == Self::Event,
            Some(body) => body.type_name() == self.type_name(),
            // A loop in its first iteration has no record of its own.
            None => self == Self::Loop && lines.iter().all(|(_, body)| is_iterated(body, location)),
        }
    }

    /// Returns whether what an earlier pass called at a location is of this kind.
    pub(super) fn fits_earlier(self, earlier: &Remembered) -> bool {
        match earlier {
            Remembered::Written("removed") => true,
            Remembered::Won(_) => self == Self::Race,
            other => other.first_record() == self.type_name(),
        }
    }
}

fn is_iterated(body: &Body, location: &Location) -> bool {
    let iterations = location.inner_scope();
    let inside = body
        .location()
        .and_then(|inside| iteration_of(inside, &iterations));
    inside.is_some()
}

#[cfg(test)]
mod tests;
