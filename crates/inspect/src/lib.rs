//! Readers of a journal: they show what a run is doing and has done, without its code.
//!
//! Like `machine`, this crate is pure: no clock, no randomness, no async, no I/O. [`Overview`] is
//! the fold that the other readers build on. [`why()`] lists what a run waits for, [`timeline()`]
//! is the audit trail, [`shape()`] the structure of the run as a tree, and [`spans()`] the run as a
//! trace.

mod operation;
mod overview;
mod phrase;
mod shape;
#[cfg(test)]
mod tests;
mod timeline;
mod trace;
mod why;

pub use operation::operation_named;
pub use overview::{
    ChildView, EndingView, EventView, OpenRpc, Overview, PauseView, RollbackView, SleepView,
    StepView, WaitView,
};
pub use shape::{Node, NodeKind, NodeStatus, Shape, shape, to_mermaid};
pub use timeline::{Line, Outcome, TimelineReader, timeline, to_json_lines};
pub use trace::{Span, SpanOf, spans};
pub use why::{Reason, Why, why, why_with_status};
