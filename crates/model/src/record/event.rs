//! Events, and the waits that consume them.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;
use crate::name::Name;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::time::Timestamp;

/// Something sent to the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What it is called.
    pub name: Name,
    /// What it says.
    pub payload: Payload,
    /// The sender's id for it; a second event with the same id changes nothing.
    pub dedup_id: Option<String>,
    /// The id under which the sender waits for an answer; copies of the event keep it.
    pub reply_to: Option<String>,
    /// Who sent it, as far as known.
    pub by: Option<String>,
}
codec!(Event {
    name,
    payload,
    dedup_id,
    reply_to,
    by
});

/// The workflow waits for an event of one of these names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The wait.
    #[serde(rename = "id")]
    pub location: Location,
    /// The names it takes.
    pub names: Vec<Name>,
    /// When it gives up.
    pub deadline: Option<Timestamp>,
    /// The most events it takes at once.
    pub batch: u32,
}
codec!(Waiting {
    location,
    names,
    deadline,
    batch
});

/// The wait took these events. It is derived from the order of the journal; the record is there for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitCompleted {
    /// The wait.
    #[serde(rename = "id")]
    pub location: Location,
    /// The records of the events it took.
    pub events: Vec<RecordNumber>,
    /// When it would have given up.
    pub deadline: Option<Timestamp>,
}
codec!(WaitCompleted {
    location,
    events,
    deadline
});

/// The wait gave up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitTimedOut {
    /// The wait.
    #[serde(rename = "id")]
    pub location: Location,
}
codec!(WaitTimedOut { location });
