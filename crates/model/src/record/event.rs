//! Events, and the waits that consume them.

use crate::codec::records;
use crate::location::Location;
use crate::name::Name;
use crate::offset::RecordNumber;
use crate::payload::Payload;
use crate::time::Timestamp;

records! {
    /// An event that was sent to the run.
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

    /// The workflow waits for an event of one of these names.
    pub struct Waiting {
        #[serde(rename = "id")]
        pub location: Location,
        pub names: Vec<Name>,
        /// When the operation times out.
        pub deadline: Option<Timestamp>,
        /// The maximum number of events that the wait takes at once.
        pub batch: u32,
    }

    /// The wait took these events. The order of the journal determines which; the record informs
    /// readers.
    pub struct WaitCompleted {
        #[serde(rename = "id")]
        pub location: Location,
        /// The numbers of the event records.
        pub events: Vec<RecordNumber>,
        /// When the operation would have timed out.
        pub deadline: Option<Timestamp>,
    }

    /// The wait timed out.
    pub struct WaitTimedOut {
        #[serde(rename = "id")]
        pub location: Location,
    }
}
