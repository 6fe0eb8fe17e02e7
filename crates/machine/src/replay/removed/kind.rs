//! The kinds of operations that code can say it no longer has.

use std::fmt;

use everstep_model::record::BranchesKind;
use everstep_model::{Body, Location, Name, RecordNumber, Segment};

use super::super::memo::Remembered;

/// What an operation was that the code no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovedKind {
    /// A step.
    Step,
    /// A sleep.
    Sleep,
    /// A wait for events.
    Event,
    /// A question.
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
    /// An event sent to another run. These have no names of their own, and count in the order they were sent.
    Send,
    /// A note. These have no names of their own, and count in the order they were written.
    Note,
    /// A change of a row. These have no names of their own, and count in the order they were made.
    Row,
    /// A notification. These have no names of their own, and count in the order they were made.
    Emit,
    /// A change of an attribute. These have no names of their own, and count in the order they were made.
    Attribute,
    /// A version gate.
    Version,
}

impl fmt::Display for RemovedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Step => "step",
            Self::Sleep => "sleep",
            Self::Event => "wait for an event",
            Self::Rpc => "rpc",
            Self::Join => "join",
            Self::Race => "race",
            Self::Switch => "switch",
            Self::Loop => "loop",
            Self::Child => "child",
            Self::Send => "send",
            Self::Note => "note",
            Self::Row => "row",
            Self::Emit => "emit",
            Self::Attribute => "attribute",
            Self::Version => "version",
        })
    }
}

impl RemovedKind {
    /// The type name of the record that such an operation begins with.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Step => "step_started",
            Self::Sleep => "sleeping",
            Self::Event => "waiting",
            Self::Rpc => "rpc_requested",
            Self::Join | Self::Race => "branches_started",
            Self::Switch => "switch_chosen",
            Self::Loop => "loop_advanced",
            Self::Child => "child_started",
            Self::Send => "sent",
            Self::Note => "note",
            Self::Row => "state_changed",
            Self::Emit => "emitted",
            Self::Attribute => "attribute_set",
            Self::Version => "version_chosen",
        }
    }

    /// The name under which the journal knows it, if that is not the one the code gives.
    pub(super) fn internal_name(self, name: &Name) -> Option<String> {
        match self {
            Self::Send => Some("__sent".to_owned()),
            Self::Note => Some("__note".to_owned()),
            Self::Row => Some("__row".to_owned()),
            Self::Emit => Some("__emit".to_owned()),
            Self::Attribute => Some("__attribute".to_owned()),
            Self::Version => Some(format!("__version:{name}")),
            _ => None,
        }
    }

    /// Whether what the journal holds of a place is of this kind.
    pub(super) fn fits(self, lines: &[(RecordNumber, Body)], place: &Location) -> bool {
        let mut own = lines.iter().map(|(_, body)| body);
        match own.find(|body| body.location() == Some(place)) {
            Some(Body::BranchesStarted(record)) => match record.kind {
                BranchesKind::Join => self == Self::Join,
                BranchesKind::Race => self == Self::Race,
            },
            // A wait that does not wait is known by its outcome alone.
            Some(Body::WaitCompleted(_) | Body::WaitTimedOut(_)) => self == Self::Event,
            Some(body) => body.type_name() == self.type_name(),
            // A loop in its first iteration has nothing of its own.
            None => self == Self::Loop && lines.iter().all(|(_, body)| is_iterated(body, place)),
        }
    }

    /// Whether what an earlier pass left at a place is of this kind.
    pub(super) fn fits_memory(self, known: &Remembered) -> bool {
        match known {
            Remembered::Resolved(kind, _) => *kind == self.type_name(),
            Remembered::Written(kind) => *kind == "removed" || *kind == self.type_name(),
            Remembered::Attempted(_) => self == Self::Step,
            Remembered::Sleeping(_) => self == Self::Sleep,
            Remembered::Waiting(_) => self == Self::Event,
            Remembered::Asked(_) => self == Self::Rpc,
            Remembered::Version(_) => self == Self::Version,
            Remembered::Won(_) => self == Self::Race,
            Remembered::Chosen(_) => self == Self::Switch,
            Remembered::Child(_) => self == Self::Child,
        }
    }
}

fn is_iterated(body: &Body, place: &Location) -> bool {
    let inner = place.inner_scope();
    let path = body.location().map(|location| location.scope.segments());
    let below = path.and_then(|path| path.strip_prefix(inner.segments()));
    matches!(
        below.and_then(<[Segment]>::first),
        Some(Segment::Iteration(_))
    )
}
