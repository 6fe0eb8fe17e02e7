//! The commands that control runs: one run, several, or all that match a filter.

mod apply;
mod cancel;
mod fail;
mod fork;
mod report;
mod restart;
mod step_result;
mod targets;

pub(crate) use apply::apply;
pub(crate) use cancel::Cancel;
pub(crate) use fail::Fail;
pub(crate) use fork::Fork;
pub(crate) use restart::Restart;
pub(crate) use step_result::StepResult;
pub(crate) use targets::Targets;
