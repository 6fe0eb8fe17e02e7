//! The operations of [`crate::Ctx`] as futures that are configured like builders and awaited
//! directly.
//!
//! An operation is called when it is first polled, stays pending until its record is durable, and
//! is reported as dropped if the code drops it before that.

mod branches;
mod child;
mod event;
mod forms;
mod handle;
mod recorded;
mod removed;
mod repeat;
mod rollback;
mod rpc;
mod sleep;
mod step;
mod step_attempt;
mod step_failure;
mod step_forms;
mod switch;
mod try_scope;
mod undo;

pub use branches::{Branch, Each, Join, Race, Settled, Won};
pub use child::Child;
pub use event::{EventWait, Received};
pub use forms::{Batch, Detached, Optional, Required};
pub use recorded::Recorded;
pub use removed::Removed;
pub use repeat::{Repeat, Until};
pub use rollback::Rollback;
pub use rpc::RpcCall;
pub use sleep::Sleep;
pub use step::Step;
pub use step_forms::{BestEffort, TryStep};
pub use switch::Switch;
pub use undo::Undo;

pub use everstep_machine::{RemovedKind, StepFailure};
pub use everstep_model::{RpcId, TraceParent};

pub use crate::declaration::{EventSet, OneOf2, OneOf3, OneOf4};
pub use crate::error::{BranchFailure, BranchesFailure, ChildFailure, Source};
pub use crate::execution::{RunMetadata, StepContext};
