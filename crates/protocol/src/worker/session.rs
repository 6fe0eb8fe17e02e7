//! Heartbeats, and releasing runs.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

/// `POST /v1/workers/{session}/release`: releases runs. Another worker executes those that have
/// neither ended nor been suspended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseRequest {
    /// The tokens of the runs' claims.
    pub tokens: Vec<String>,
}

/// The response to a heartbeat, to a release and to the end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Acknowledged {
    /// The server's clock.
    pub now: Timestamp,
}
