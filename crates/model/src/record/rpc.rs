//! Rpcs and their answers.

use crate::codec::records;
use crate::id::RpcId;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::time::Timestamp;

records! {
    /// The run calls an rpc, which a person or another program answers.
    pub struct RpcRequested {
        #[serde(rename = "id")]
        pub location: Location,
        /// The id that an answer must name.
        pub rpc_id: RpcId,
        pub method: Name,
        pub args: Payload,
        /// When the operation times out.
        pub deadline: Option<Timestamp>,
        /// The JSON schema that an answer must match.
        pub schema: Option<Payload>,
    }

    /// An rpc was answered.
    pub struct RpcAnswered {
        #[serde(rename = "id")]
        pub location: Location,
        /// The id that the answer names.
        pub rpc_id: RpcId,
        pub answer: Payload,
        /// The author of the answer, if known.
        pub by: Option<String>,
    } + {
        /// The sender's id of the answer, which makes repetitions harmless.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dedup_id: Option<String>,
    }

    /// An rpc ended. The order of the journal determines how; the record informs readers.
    pub struct RpcCompleted {
        #[serde(rename = "id")]
        pub location: Location,
        pub rpc_id: RpcId,
        /// Whether the rpc timed out.
        pub timed_out: bool,
        /// When the operation would have timed out.
        pub deadline: Option<Timestamp>,
    }
}
