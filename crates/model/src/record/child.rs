//! Children, and messages between runs.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::{DecodeError, Reader, Wire, Writer, byte_codec, codec};
use crate::failure::Failure;
use crate::id::{Generation, RunId};
use crate::location::Location;
use crate::name::Name;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::retry::UndoMode;
use crate::time::Timestamp;

/// The operation of another run that started this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParentLink {
    pub run: RunId,
    pub generation: Generation,
    pub location: Location,
}
codec!(ParentLink {
    run,
    generation,
    location
});

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
byte_codec!(ParentClose { Cancel = 0, Terminate = 1, Abandon = 2 });

/// The run started a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Whether the child can be undone once it has completed.
    #[serde(default, skip_serializing_if = "UndoMode::is_none")]
    pub undo: UndoMode,
}
codec!(
    ChildStarted {
        location,
        run,
        workflow,
        input,
        tags,
        deadline,
        on_close,
        detached
    } + { undo }
);

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

impl Wire for ChildOutcome {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::Completed(result) => {
                out.byte(0);
                result.put(out);
            }
            Self::Failed(error) => {
                out.byte(1);
                error.put(out);
            }
            Self::Cancelled(error) => {
                out.byte(2);
                error.put(out);
            }
        }
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.byte()? {
            0 => Payload::take(input).map(Self::Completed),
            1 => Failure::take(input).map(Self::Failed),
            2 => Failure::take(input).map(Self::Cancelled),
            _ => Err(DecodeError::Damaged("an unknown outcome of a child")),
        }
    }
}

/// A child ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildFinished {
    /// The operation that started the child.
    #[serde(rename = "id")]
    pub location: Location,
    pub outcome: ChildOutcome,
    /// The child's run. An operation may start another child in a later pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(ChildFinished { location, outcome } + { run });

/// The run sent an event to another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    #[serde(rename = "id")]
    pub location: Location,
    pub to: RunId,
    pub event: Name,
    pub payload: Payload,
}
codec!(Sent {
    location,
    to,
    event,
    payload
});

/// The run answered an event whose sender waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replied {
    #[serde(rename = "id")]
    pub location: Location,
    pub event: RecordNumber,
    pub payload: Payload,
}
codec!(Replied {
    location,
    event,
    payload
});
