//! What a run is doing, folded from its journal alone, without the workflow's code.
//!
//! The fold is total: every sequence of records has a meaning. If two records compete, the first
//! wins, and records after the end of the run change nothing.

mod fold;
mod lifecycle;
mod operations;
mod scopes;
mod status;
mod steps;
#[cfg(test)]
mod tests;
mod undo;
mod views;
mod waits;

pub use fold::Overview;
pub use views::{
    ChildView, EndingView, EventView, OpenRpc, PauseView, RollbackView, SleepView, StepView,
    WaitView,
};
