//! Control of runs by operators, one file per verb.
//!
//! Requests that the run itself carries out (pause, cancel) are inbox records; their position in
//! the journal decides what they affect. Requests that overrule the executor (terminate, settle a
//! step) revoke its claim in the same commit, so that none of its later appends succeed. Reviving
//! creates a new generation. Each verb reports its outcome and can be repeated, also to complete it
//! after a crash.

mod bulk;
mod cancel;
mod copy;
mod delete;
mod deliver;
mod done;
mod fork;
mod pause;
mod retention;
mod revive;
mod run_state;
mod settle_step;
mod terminate;
mod verbs;

pub use bulk::{BulkProgress, BulkReport};
pub(crate) use copy::Copier;
pub(crate) use delete::{Deleter, OutboxSettler};
pub use done::{Because, Done, Effect, RequestOrigin};
pub use everstep_model::Control;
pub use fork::ForkRun;
pub(crate) use retention::RetentionTask;
pub use revive::Revival;
pub(crate) use revive::Reviver;
pub use settle_step::Settlement;
pub(crate) use settle_step::StepSettler;
pub(crate) use terminate::Terminator;
pub(crate) use verbs::Controller;
