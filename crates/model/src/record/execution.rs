//! The execution of a run as a whole: its deadline, pauses, divergence and retries.

use crate::codec::records;
use crate::failure::Failure;
use crate::location::Location;
use crate::time::Timestamp;

records! {
    /// The run's deadline passed.
    pub struct DeadlinePassed {
        pub deadline: Timestamp,
    }

    /// The run is paused.
    pub struct Paused {
        /// Why the engine parked the run; `None` if the pause was requested.
        pub reason: Option<Failure>,
    }

    /// The run was resumed.
    pub struct Resumed {}

    /// The code does not match the journal. The run is parked until compatible code is registered.
    pub struct Diverged {
        /// Where code and journal differ.
        #[serde(rename = "id")]
        pub location: Option<Location>,
        /// What was recorded, what the code did, and what to do.
        pub error: Failure,
    }

    /// The workflow function failed and will run again. Completed operations keep their results.
    pub struct ExecutionRetried {
        /// The attempt that failed, counted from 1.
        pub attempt: u32,
        pub error: Failure,
        /// The time of the next attempt.
        pub retry_at: Timestamp,
    }
}
