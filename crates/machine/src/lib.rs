//! The pure state machine of a run: what a journal means to the code that continues it.
//!
//! No clock, no randomness, no async, no I/O: `now` is an argument, and every answer is a function
//! of the journal. The engine, the replay tests, remote workers and simulations all use this one
//! crate.
//!
//! [`Replay`] drives workflow code record by record and compares what the code does with what was
//! recorded. [`fork()`] plans a journal that begins as a copy of another. [`UndoFold`] folds what
//! is done and not undone, [`PassingSteps`] what is passing the point of no return. Readers that
//! only show a journal are in `inspect`.

mod fork;
mod moment;
mod passing;
mod replay;
mod retry;
mod trace;
mod undo;

pub use fork::{CannotFork, ForkExtent, ForkPlan, Forked, fork};
pub use passing::PassingSteps;
pub use replay::{
    Access, Advance, Attempts, BranchesCall, Call, CallSite, Called, ChildCall, ChildEnd,
    DetachedChild, Divergence, EventTaken, Halt, IterationEnd, LeftChild, LoopCall, Obsolete, OpId,
    Outgoing, PassRemoved, Position, RemovedKind, Replay, Resolution, Rollback, RpcCall, Run,
    RunInfo, ScopeCall, Script, SleepCall, Status, StepFailure, StepStart, SwitchCall, Turn,
    UndoEnd, UndoStart, UndoState, WaitCall, Written, branch_scope, iteration_scope,
};
pub use retry::{FailureClass, after_execution_failure, after_step_failure, retry_delay};
pub use trace::{RunTrace, TraceRoot};
pub use undo::{Subject, UndoFold};
