//! `POST /v1/workers/{session}/claim`: runs to execute, and notifications about runs that the
//! worker has.
//!
//! Everything that the server sends to a session is a list of numbered items. A claim names the
//! last item that the worker has received. The server forgets the items up to that one and returns
//! the following ones, possibly only the first of many. A lost response is therefore sent again.

use everstep_model::{Generation, Name, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use super::journal::WireEntry;

/// A request for new items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimRequest {
    /// The number of the last received item; 0 before the first.
    pub after: u64,
    /// Whether the worker accepts no more runs because it is about to leave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
}

/// New items; empty if there were none for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimAnswer {
    /// The items after the named one, in order. If there are many, only the first ones.
    pub items: Vec<Item>,
    /// The server's clock.
    pub now: Timestamp,
    /// Whether the server is about to shut down. The worker should then pause before its next
    /// claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
}

/// An item for a session: a run to execute, or a notification about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// The number of the item.
    pub number: u64,
    /// A run to execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Assigned>,
    /// A notification about a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<News>,
}

/// A run to execute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assigned {
    /// The signed token of the claim, which every request about the run contains.
    pub token: String,
    /// The ID of the run.
    pub id: RunId,
    /// The generation of the run.
    pub generation: Generation,
    /// The workflow of the run.
    pub workflow: Name,
    /// The version of the workflow.
    pub version: u32,
    /// Whether the last executor failed without making progress. The worker must then make the
    /// start of each attempt durable before it begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cautious: bool,
    /// The complete journal so far.
    pub journal: Vec<WireEntry>,
}

/// A notification about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct News {
    /// The token of the run's claim.
    pub token: String,
    /// What has changed.
    pub word: NewsWord,
    /// How many appends the server had answered before this notification. Process it after those
    /// responses.
    pub after: u64,
}

/// What has changed for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NewsWord {
    /// The journal has new records: read them.
    Grew,
    /// The suspended run has work to do and is claimed by this worker again: read its journal.
    Resumed,
    /// The claim is lost: discard the run.
    Lost,
    /// The server needs memory: discard the run when it is suspended.
    Evict,
    /// The server shuts down: finish steps in flight, begin no others, and release the run.
    Stop,
}
