//! The commands that control runs: one run, several, or all that match a filter.

mod bulk;
mod confirmation;
mod report;
mod single_run;
mod targets;

pub(crate) use bulk::{Cancel, Fail, Restart, apply};
pub(crate) use single_run::{Edit, Fork, Skip};
pub(crate) use targets::Targets;
