//! Children, and messages between runs.

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};
use crate::failure::Failure;
use crate::id::{Generation, RunId};
use crate::location::Location;
use crate::name::Name;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::retry::UndoMode;
use crate::time::Timestamp;

records! {
    /// The operation of another run that started this one.
    pub struct ParentLink {
        pub run: RunId,
        pub generation: Generation,
        pub location: Location,
    }
}

/// What happens to a child if its parent ends, or stops waiting, first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParentClose {
    /// The child is cancelled and rolls back.
    #[default]
    Cancel,
    /// The child is terminated.
    Terminate,
    /// The child continues.
    Abandon,
}
enum_codec!(ParentClose { Cancel = 0, Terminate = 1, Abandon = 2 });

records! {
    /// The run started a child.
    pub struct ChildStarted {
        #[serde(rename = "id")]
        pub location: Location,
        pub run: RunId,
        pub workflow: Name,
        pub input: Payload,
        #[serde(default)]
        pub tags: Vec<String>,
        /// When the run stops waiting for the child.
        pub deadline: Option<Timestamp>,
        /// What happens to the child if this run ends first.
        pub on_close: ParentClose,
        /// Whether the run does not wait for the child.
        pub detached: bool,
    } + {
        /// Whether the child can be undone once it has completed.
        #[serde(default, skip_serializing_if = "UndoMode::is_none")]
        pub undo: UndoMode,
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildOutcome {
    /// With a result.
    Completed(Payload),
    /// With an error.
    Failed(Failure),
    /// Cancelled, with the reason.
    Cancelled(Failure),
}
enum_codec!(ChildOutcome { Completed(result) = 0, Failed(error) = 1, Cancelled(error) = 2 });

records! {
    /// A child ended.
    pub struct ChildFinished {
        /// The operation that started the child.
        #[serde(rename = "id")]
        pub location: Location,
        pub outcome: ChildOutcome,
    } + {
        /// The child's run. An operation may start another child in a later pass of the function.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub run: Option<RunId>,
    }

    /// The run sent an event to another run.
    pub struct Sent {
        #[serde(rename = "id")]
        pub location: Location,
        pub to: RunId,
        pub event: Name,
        pub payload: Payload,
    }

    /// The run answered an event whose sender waits.
    pub struct Replied {
        #[serde(rename = "id")]
        pub location: Location,
        pub event: RecordNumber,
        pub payload: Payload,
    }
}
