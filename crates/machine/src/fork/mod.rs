//! Forking: a new journal that begins as a copy of another, for a new generation of a run or for
//! another run.
//!
//! The input is a journal and a plan (`plan.rs`), the output the records of the new journal, or the
//! reason why the journal cannot be forked. `select.rs` keeps what precedes an operation,
//! `recover.rs` everything except a failure and its consequences, `events.rs` later events.
//! `copy.rs` turns the kept records into those of the new run. The result replays against the same
//! code, because it is a journal that the code could have written: no scripted record is missing in
//! the middle, and every result keeps its position.

mod build;
mod compacted;
mod copy;
mod events;
mod kept;
mod moments;
mod plan;
mod recover;
mod running;
mod scopes;
mod select;
#[cfg(test)]
mod tests;
mod undone;

pub use build::fork;
pub use plan::{CannotFork, ForkExtent, ForkPlan, Forked};
