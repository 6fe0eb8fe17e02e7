//! The kinds of operations that can be removed from the code.

use std::fmt;

use everstep_model::record::BranchesKind;
use everstep_model::{Body, Location, Name, RecordNumber};

use crate::replay::earlier_passes::Remembered;
use crate::replay::loops::iteration_of;

/// The kind of a removed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovedKind {
    /// A step.
    Step,
    /// A sleep.
    Sleep,
    /// A wait for events.
    Event,
    /// An rpc.
    Rpc,
    /// A join, with everything in its branches.
    Join,
    /// A race, with everything in its branches.
    Race,
    /// A switch, with everything in the branch it chose.
    Switch,
    /// A loop, with everything in its iterations.
    Loop,
    /// A child.
    Child,
    /// An event sent to another run. Records without names are counted in their order.
    Send,
    /// A note. Records without names are counted in their order.
    Note,
    /// A change of a row. Records without names are counted in their order.
    Row,
    /// A notification. Records without names are counted in their order.
    Emit,
    /// A change of an attribute. Records without names are counted in their order.
    Attribute,
    /// A version gate.
    Version,
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
            Self::Note => ("note", "note", Some("__note")),
            Self::Row => ("row", "state_changed", Some("__row")),
            Self::Emit => ("emit", "emitted", Some("__emit")),
            Self::Attribute => ("attribute", "attribute_set", Some("__attribute")),
            Self::Version => ("version", "version_chosen", None),
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
