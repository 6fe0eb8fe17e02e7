//! The executor's fold: it leads workflow code through its journal record by record.
//!
//! The executor adds records with [`Replay::extend`], and [`Replay::turn`] returns what to do:
//! start the code, resolve one operation and poll once, or wait for more. Code that is polled calls
//! operations (`call.rs`), which become the script (`script`): new lines are written, recorded ones
//! are compared. The executor folds its own records from the journal like all others, so a run that
//! stays in memory and one that is rebuilt from its journal behave in the same way.
//!
//! [`Replay`] composes the parts (`execution.rs`). Each part owns its state and implements its own
//! calls and folds; `context.rs` has what all of them use. `fold.rs` passes records to the parts,
//! and `turn.rs` decides what is next.

mod attempts;
mod branches;
mod call;
mod calls;
mod children;
mod code;
mod context;
mod control;
mod divergence;
mod earlier_passes;
mod early_results;
mod event_queue;
mod execution;
mod fold;
mod held;
mod loops;
mod operations;
mod outgoing;
mod position;
mod random;
mod records;
mod removals;
mod rollback;
mod rpcs;
mod run;
mod scopes;
mod script;
mod sleeps;
mod state;
mod status;
mod steps;
mod switches;
mod turn;
mod versions;
mod waits;
mod work;
mod written;

#[cfg(test)]
mod tests;

pub use attempts::Attempts;
pub use branches::{BranchesCall, branch_scope};
pub use call::{Call, LoopCall, ScopeCall};
pub use children::{ChildCall, DetachedChild};
pub use code::Access;
pub use context::Called;
pub use divergence::{CallSite, Divergence, Halt};
pub use event_queue::WaitCall;
pub use execution::Replay;
pub use loops::{Advance, IterationEnd, iteration_scope};
pub use operations::{ChildEnd, EventTaken, Obsolete, OpId, Resolution, StepFailure};
pub use outgoing::{LeftChild, Outgoing};
pub use position::Position;
pub use removals::{PassRemoved, RemovedKind};
pub use rollback::{Rollback, UndoEnd, UndoStart, UndoState};
pub use rpcs::RpcCall;
pub use run::{Run, RunInfo};
pub use script::Script;
pub use sleeps::SleepCall;
pub use status::Status;
pub use steps::StepStart;
pub use switches::SwitchCall;
pub use turn::Turn;
pub use written::Written;
