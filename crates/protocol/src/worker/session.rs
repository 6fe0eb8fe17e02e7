//! Signs of life, and letting go.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

/// `POST /v1/workers/{session}/release`: runs a worker lets go of. What it has not ended or suspended goes to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRequest {
    /// Their tokens.
    pub tokens: Vec<String>,
}

/// The answer to a heartbeat, a release, and to leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heard {
    /// The server's clock.
    pub now: Timestamp,
}
