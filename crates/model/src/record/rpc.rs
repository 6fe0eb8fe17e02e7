//! Questions a run asks, and their answers.

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::id::RpcId;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::time::Timestamp;

/// The run asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcRequested {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The id under which it is answered.
    pub rpc_id: RpcId,
    /// What is asked.
    pub method: Name,
    /// About what.
    pub args: Payload,
    /// When it gives up.
    pub deadline: Option<Timestamp>,
    /// The JSON schema an answer must match, if declared.
    pub schema: Option<Payload>,
}
codec!(RpcRequested {
    location,
    rpc_id,
    method,
    args,
    deadline,
    schema
});

/// Somebody answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcAnswered {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The id under which it was answered.
    pub rpc_id: RpcId,
    /// The answer.
    pub answer: Payload,
    /// Who answered, as far as known.
    pub by: Option<String>,
    /// The sender's id for the answer, by which it knows its own when it sends it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_id: Option<String>,
}
codec!(
    RpcAnswered {
        location,
        rpc_id,
        answer,
        by
    } + { dedup_id }
);

/// The call is over. It is derived from the order of the journal; the record is there for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcCompleted {
    /// The call.
    #[serde(rename = "id")]
    pub location: Location,
    /// The id under which it could be answered.
    pub rpc_id: RpcId,
    /// Whether no answer came in time.
    pub timed_out: bool,
    /// When it would have given up.
    pub deadline: Option<Timestamp>,
}
codec!(RpcCompleted {
    location,
    rpc_id,
    timed_out,
    deadline
});
