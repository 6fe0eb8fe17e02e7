//! `GET /workflows/{id}/why`: why a run is not moving.

use everstep_inspect::Reason;
use everstep_model::{RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// What a run is doing, and everything it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyView {
    /// What it is doing.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::RunWord"))]
    pub status: RunStatus,
    /// The whole of it as one sentence.
    pub sentence: String,
    /// What somebody or the clock asks of it, then what it waits for. None means that nothing holds it up.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ReasonShape>"))]
    pub reasons: Vec<Reason>,
    /// When it must be over, if it has a deadline that has not passed.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Time>"))]
    pub deadline: Option<Timestamp>,
}
