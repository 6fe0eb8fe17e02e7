//! Responses to events and answers.

use everstep_model::Payload;
use serde::{Deserialize, Serialize};

/// The result of sending an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EventOutcome {
    /// The event is in the run's journal.
    Accepted,
    /// The journal already has an event with this ID.
    Duplicate,
}

/// The response to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventAnswer {
    /// The result of sending the event.
    pub outcome: EventOutcome,
    /// The number of the event's record in the journal.
    pub number: u64,
    /// The reply of the run, if the sender waited for it and it arrived in time.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::given"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Payload"))]
    pub reply: Option<Payload>,
}

/// The response to an answer: it was the first one, and is in the run's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerAccepted {
    /// The result of sending the answer.
    pub outcome: EventOutcome,
    /// The number of the answer's record in the journal.
    pub number: u64,
}
