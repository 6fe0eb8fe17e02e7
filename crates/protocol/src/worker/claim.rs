//! `POST /v1/workers/{session}/claim`: runs to execute, and news of those the worker has.
//!
//! Everything a session is told is one list of numbered items. A claim says up to which it has them; those are forgotten,
//! and the answer holds the others, or the first of very many, so that an answer that got lost is given again.

use everstep_model::{Generation, Name, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use super::journal::WireEntry;

/// Asks for what is new.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimRequest {
    /// The number of the last item it has; 0 before the first.
    pub after: u64,
    /// Whether it takes no more runs, because it is about to leave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
}

/// What is new; nothing if nothing came for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimAnswer {
    /// The items after the one named, in order; of very many the first, and the others once these are named.
    pub items: Vec<Item>,
    /// The server's clock.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub now: Timestamp,
    /// Whether the server is about to end; a worker that hears so rests before it asks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
}

/// One thing a session is told: a run to execute, or news of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Its number.
    pub number: u64,
    /// A run to execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Assigned>,
    /// News of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<News>,
}

/// A run to execute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assigned {
    /// The right to execute it, signed; every request about it carries it.
    pub token: String,
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: RunId,
    /// Its life.
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub generation: Generation,
    /// Its workflow.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub workflow: Name,
    /// The version of its workflow.
    pub version: u32,
    /// Whether its last executor died without progress: the start of each attempt is then made durable before it begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cautious: bool,
    /// Its journal so far, nothing withheld.
    pub journal: Vec<WireEntry>,
}

/// News of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct News {
    /// Which run.
    pub token: String,
    /// What is new.
    pub word: NewsWord,
    /// How many of its appends were answered before: news is heard after those answers.
    pub after: u64,
}

/// What is new about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NewsWord {
    /// Its journal has more records: read on.
    Grew,
    /// It was suspended, has something to do, and is the worker's again: read on.
    Resumed,
    /// The right is lost: drop everything.
    Lost,
    /// Its memory is wanted: drop it when it is suspended.
    Evict,
    /// The server ends: finish steps in flight, begin none, release it.
    Stop,
}
