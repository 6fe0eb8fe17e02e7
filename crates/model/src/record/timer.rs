//! Sleeps and timers.

use serde::{Deserialize, Serialize};

use crate::codec::{enum_codec, records};
use crate::location::Location;
use crate::time::Timestamp;

records! {
    /// A sleep began.
    pub struct Sleeping {
        #[serde(rename = "id")]
        pub location: Location,
        pub until: Timestamp,
    }
}

/// The purpose of a timer.
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
    /// The next pass of the workflow function.
    ExecutionRetry,
    /// The deadline of the run; it fires as `deadline_passed`.
    Deadline,
    /// The timeout of a wait for a child.
    Child,
    /// The next attempt of an undo.
    Undo,
    /// The end of the lifetime of a user's stream. It fires without a record.
    Expiry,
}
enum_codec!(TimerPurpose { Sleep = 0, Wait = 1, Rpc = 2, Retry = 3, ExecutionRetry = 4, Deadline = 5, Child = 6, Undo = 7, Expiry = 8 });

records! {
    /// A timer fired. If an operation's timer fires several times, the first record counts.
    pub struct TimerFired {
        pub purpose: TimerPurpose,
        /// The operation of the timer; `None` for timers of the run.
        #[serde(rename = "id")]
        pub location: Option<Location>,
        pub due: Timestamp,
    }
}
