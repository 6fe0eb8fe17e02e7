//! Sleeping, and the timers that end it.

use serde::{Deserialize, Serialize};

use crate::codec::{byte_codec, codec};
use crate::location::Location;
use crate::time::Timestamp;

/// The workflow sleeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sleeping {
    /// The sleep.
    #[serde(rename = "id")]
    pub location: Location,
    /// When it ends.
    pub until: Timestamp,
}
codec!(Sleeping { location, until });

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerPurpose {
    /// The end of a sleep.
    Sleep,
    /// The timeout of a wait for events.
    Wait,
    /// The timeout of an rpc.
    Rpc,
    /// The next attempt of a step.
    Retry,
    /// The next attempt of the whole run.
    ExecutionRetry,
    /// The deadline of the run; it fires as `deadline_passed`.
    Deadline,
    /// The timeout of a wait for a child.
    Child,
    /// The next attempt to undo a step.
    Undo,
    /// The end of the lifetime of a user's stream. It fires without a record.
    Expiry,
}
byte_codec!(TimerPurpose { Sleep = 0, Wait = 1, Rpc = 2, Retry = 3, ExecutionRetry = 4, Deadline = 5, Child = 6, Undo = 7, Expiry = 8 });

/// A timer reached its time. Of several firings of one operation the first counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimerFired {
    /// What it was for.
    pub purpose: TimerPurpose,
    /// The operation it belongs to; none for the run's own timers.
    #[serde(rename = "id")]
    pub location: Option<Location>,
    /// When it was due.
    pub due: Timestamp,
}
codec!(TimerFired {
    purpose,
    location,
    due
});
