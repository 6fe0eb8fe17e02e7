//! The operations of [`crate::Ctx`] as futures that are configured like builders and awaited directly.
//!
//! Each is called when it is first polled, stays pending until its record comes back from the journal, and is reported
//! as dropped if the code gives it up before that.

mod branches;
mod child;
mod event;
mod event_forms;
mod handle;
mod removed;
mod repeat;
mod rollback;
mod rpc;
mod sleep;
mod step;
mod step_attempt;
mod step_failure;
mod step_forms;
mod step_undo;
mod switch;
mod try_scope;
mod undo;

pub use branches::{Branch, Each, Join, Race, Settled, Won};
pub use child::{Child, ChildWithin, DetachedChild};
pub use event::{EventReceived, EventWait, EventWithin, Received};
pub use event_forms::{AnyEventWait, AnyEventWithin, EventBatch, TryEvent};
pub use removed::Removed;
pub use repeat::{Repeat, Until};
pub use rollback::Rollback;
pub use rpc::{RpcCall, RpcWithin};
pub use sleep::Sleep;
pub use step::Step;
pub use step_forms::{BestEffort, TryStep};
pub use switch::Switch;
pub use undo::Undo;

pub use everstep_machine::{RemovedKind, StepFailure};
pub use everstep_model::{RpcId, TraceParent};

pub use crate::declaration::{EventSet, OneOf2, OneOf3, OneOf4};
pub use crate::error::{BranchFailure, BranchesFailure, ChildFailure, Source};
pub use crate::execution::StepContext;
