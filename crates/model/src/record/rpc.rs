//! Rpcs and their answers.

#![allow(
    missing_docs,
    reason = "plain data; fields are explained where their names do not"
)]

use serde::{Deserialize, Serialize};

use crate::codec::codec;
use crate::id::RpcId;
use crate::location::Location;
use crate::name::Name;
use crate::payload::Payload;
use crate::time::Timestamp;

/// The run asks a typed question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
codec!(RpcRequested {
    location,
    rpc_id,
    method,
    args,
    deadline,
    schema
});

/// An rpc was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcAnswered {
    #[serde(rename = "id")]
    pub location: Location,
    /// The id that the answer names.
    pub rpc_id: RpcId,
    pub answer: Payload,
    /// The author of the answer, if known.
    pub by: Option<String>,
    /// The sender's id of the answer, which makes repetitions harmless.
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

/// An rpc ended. The order of the journal determines how; the record is there for readers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcCompleted {
    #[serde(rename = "id")]
    pub location: Location,
    /// The id of the rpc.
    pub rpc_id: RpcId,
    /// Whether the rpc timed out.
    pub timed_out: bool,
    /// When the operation would have timed out.
    pub deadline: Option<Timestamp>,
}
codec!(RpcCompleted {
    location,
    rpc_id,
    timed_out,
    deadline
});
