//! Signs of life, and letting go.

use everstep_model::Timestamp;
use serde::{Deserialize, Serialize};

/// `POST /v1/workers/{session}/release`: runs a worker lets go of. What it has not ended or suspended goes to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseRequest {
    /// Their tokens.
    pub tokens: Vec<String>,
}

/// The answer to a heartbeat, a release, and to leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Heard {
    /// The server's clock.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::Time"))]
    pub now: Timestamp,
}
