//! The kinds of operations that can be removed from the code.

use std::fmt;

use everstep_model::record::BranchesKind;
use everstep_model::{Body, Location, Name, RecordNumber, Segment};

use crate::replay::earlier_passes::Remembered;

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
    /// The type name of the record with which such an operation begins.
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

    /// The name in the journal, if it is not the one that the code gives.
    pub(in crate::replay) fn internal_name(self, name: &Name) -> Option<String> {
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

    /// Whether the operation that the journal contains at a location is of this kind.
    pub(super) fn fits(self, lines: &[(RecordNumber, Body)], place: &Location) -> bool {
        let mut own = lines.iter().map(|(_, body)| body);
        match own.find(|body| body.location() == Some(place)) {
            Some(Body::BranchesStarted(record)) => match record.kind {
                BranchesKind::Join => self == Self::Join,
                BranchesKind::Race => self == Self::Race,
            },
            // A wait that resolves at once records only its result.
            Some(Body::WaitCompleted(_) | Body::WaitTimedOut(_)) => self == Self::Event,
            Some(body) => body.type_name() == self.type_name(),
            // A loop in its first iteration has no record of its own.
            None => self == Self::Loop && lines.iter().all(|(_, body)| is_iterated(body, place)),
        }
    }

    /// Whether what an earlier pass called at a location is of this kind.
    pub(super) fn fits_earlier(self, earlier: &Remembered) -> bool {
        match earlier {
            Remembered::Resolved(kind, _) => *kind == self.type_name(),
            Remembered::Written(kind) => *kind == "removed" || *kind == self.type_name(),
            Remembered::Attempted(_) => self == Self::Step,
            Remembered::Sleeping(_) => self == Self::Sleep,
            Remembered::Waiting(_) => self == Self::Event,
            Remembered::Requested(_) => self == Self::Rpc,
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
