//! `GET /workflows/{id}/why`: explains why a run makes no progress.

use everstep_inspect::Reason;
use everstep_model::{RunStatus, Timestamp};
use serde::{Deserialize, Serialize};

/// The status of a run and everything it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyView {
    /// The status of the run.
    pub status: RunStatus,
    /// The explanation as one sentence.
    pub sentence: String,
    /// Pending requests and deadlines, then the waits of the run. Empty if nothing blocks the run.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ReasonShape>"))]
    pub reasons: Vec<Reason>,
    /// The deadline of the run, if it has one that has not passed.
    pub deadline: Option<Timestamp>,
}
