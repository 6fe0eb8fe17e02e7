//! The pure state machine of a run: what a journal means and what may follow.
//!
//! No clock, no randomness, no async, no I/O: `now` is an argument, and every answer is a function of the journal. The
//! engine, the replay tests, remote workers and simulations all use this one crate.
//!
//! Two folds of the same records live here. [`Replay`] is the executor's: it drives workflow code record by record and
//! compares what the code does with what was recorded. [`Overview`] is the reader's: it says what a run is doing
//! without any code at hand. [`why()`], [`timeline()`] and [`shape()`] are other readers' views: why a run is not moving,
//! what happened when and by whom, and how its parts hang together.

mod fork;
mod moment;
mod overview;
mod phrase;
mod replay;
mod retry;
mod shape;
mod timeline;
mod trace;
mod undo;
mod why;

pub use fork::{CannotFork, ForkExtent, ForkPlan, Forked, fork};
pub use overview::{
    ChildView, EndingView, EventView, OpenRpc, Overview, PauseView, RollbackView, SleepView,
    StepView, WaitView,
};
pub use replay::{
    Advance, CallSite, ChildCall, ChildEnd, Divergence, EventTaken, Halt, LeftChild, Obsolete,
    OpId, PassRemoved, RemovedKind, Replay, Resolution, Returned, RunFacts, StepFailure, StepStart,
    Turn, UndoStart, UndoState, WaitFor,
};
pub use retry::{FailureClass, after_execution_failure, after_step_failure, retry_delay};
pub use shape::{Node, NodeKind, NodeStatus, Shape, shape, to_mermaid};
pub use timeline::{Line, Outcome, timeline, to_json_lines};
pub use trace::{RunTrace, Span, SpanOf, TraceRoot, spans};
pub use undo::{Subject, UndoFold};
pub use why::{Reason, Why, why};
