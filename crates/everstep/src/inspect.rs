//! Readers of runs: lists, the overview of a run, why it does not continue, its timeline, its
//! shape, and the declaration of its workflow.

pub use everstep_engine::RunInfo;
pub use everstep_inspect::{
    Line, Outcome, Overview, Reason, Shape, StepView, Why, timeline, to_json_lines, to_mermaid,
};
pub use everstep_model::StepStatus;
pub use everstep_store::{Cursor, RunRow};

pub use crate::client::{ListRuns, RunPage};
pub use crate::declaration::Declaration;
