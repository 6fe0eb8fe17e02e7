//! What becomes of events and answers.

use everstep_model::Payload;
use serde::{Deserialize, Serialize};

/// What became of an event that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventOutcome {
    /// It is in the run's journal.
    Accepted,
    /// An event with the same id was there already.
    Duplicate,
}

/// The answer to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventAnswer {
    /// What became of it.
    pub outcome: EventOutcome,
    /// The number of its record in the journal.
    pub number: u64,
    /// What the run replied, if the sender waited for it and it came in time.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Any"))]
    pub reply: Option<Payload>,
}

/// An answer to a question of a run was the first, and is in its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerAccepted {
    /// What became of it.
    pub outcome: EventOutcome,
    /// The number of its record in the journal.
    pub number: u64,
}
