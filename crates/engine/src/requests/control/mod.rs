//! Control of runs by operators: `verbs.rs` lists the verbs, and the larger ones have files of
//! their own.
//!
//! Requests that the run itself carries out (pause, cancel) are inbox records; their position in
//! the journal decides what they affect. Requests that overrule the executor (terminate, settle a
//! step) revoke its claim in the same commit, so that none of its later appends succeed. Reviving
//! creates a new generation. Each verb reports its outcome and can be repeated, also to complete it
//! after a crash.

mod bulk;
mod controller;
mod copy;
mod delete;
mod done;
mod fork;
mod import;
mod left_open;
mod retention;
mod revive;
mod run_state;
mod settle_step;
mod terminate;
mod verbs;

pub use bulk::BulkProgress;
pub(crate) use controller::{Controller, OutboxFlush};
pub use done::{Because, Done, Effect, RequestOrigin};
pub use everstep_model::Control;
pub use fork::ForkRun;
pub use import::ImportRun;
pub use revive::Revival;
pub use settle_step::Settlement;
pub(crate) use verbs::Verb;
