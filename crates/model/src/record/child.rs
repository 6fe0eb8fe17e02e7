//! Other runs: children, and messages between runs.

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
    /// The parent.
    pub run: RunId,
    /// Its generation.
    pub generation: Generation,
    /// The operation.
    pub location: Location,
}
codec!(ParentLink {
    run,
    generation,
    location
});

/// What becomes of a child when its parent ends, or stops waiting, before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParentClose {
    /// It is cancelled, and undoes what it did.
    #[default]
    Cancel,
    /// It is ended at once.
    Terminate,
    /// It goes on.
    Abandon,
}
byte_codec!(ParentClose { Cancel = 0, Terminate = 1, Abandon = 2 });

/// The run started a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildStarted {
    /// The operation.
    #[serde(rename = "id")]
    pub location: Location,
    /// The child.
    pub run: RunId,
    /// Its workflow.
    pub workflow: Name,
    /// Its input.
    pub input: Payload,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// When the run stops waiting for it.
    pub deadline: Option<Timestamp>,
    /// What becomes of it when this run ends first.
    pub on_close: ParentClose,
    /// Whether nobody waits for it.
    pub detached: bool,
    /// Whether it can be undone once it has completed.
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
    /// The operation that started it.
    #[serde(rename = "id")]
    pub location: Location,
    /// How.
    pub outcome: ChildOutcome,
    /// The child, for an operation that starts another one in a later pass of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}
codec!(ChildFinished { location, outcome } + { run });

/// The run sent an event to another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The operation.
    #[serde(rename = "id")]
    pub location: Location,
    /// To whom.
    pub to: RunId,
    /// The event's name.
    pub event: Name,
    /// What it says.
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
    /// The operation.
    #[serde(rename = "id")]
    pub location: Location,
    /// The event.
    pub event: RecordNumber,
    /// The answer.
    pub payload: Payload,
}
codec!(Replied {
    location,
    event,
    payload
});
