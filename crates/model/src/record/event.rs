//! Events, and the waits that consume them.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::location::Location;
use crate::name::Name;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::time::Timestamp;

/// An event that was sent to the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub name: Name,
    pub payload: Payload,
    /// The sender's id of the event. A second event with the same id changes nothing.
    pub dedup_id: Option<String>,
    /// The id under which the sender waits for a reply. Copies of the event keep it.
    pub reply_to: Option<String>,
    /// The sender, if known.
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
    #[serde(rename = "id")]
    pub location: Location,
    pub names: Vec<Name>,
    /// When the operation times out.
    pub deadline: Option<Timestamp>,
    /// The maximum number of events that the wait takes at once.
    pub batch: u32,
}
codec!(Waiting {
    location,
    names,
    deadline,
    batch
});

/// The wait took these events. The order of the journal determines which; the record is there for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitCompleted {
    #[serde(rename = "id")]
    pub location: Location,
    /// The numbers of the event records.
    pub events: Vec<RecordNumber>,
    /// When the operation would have timed out.
    pub deadline: Option<Timestamp>,
}
codec!(WaitCompleted {
    location,
    events,
    deadline
});

/// The wait timed out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitTimedOut {
    #[serde(rename = "id")]
    pub location: Location,
}
codec!(WaitTimedOut { location });
