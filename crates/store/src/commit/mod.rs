//! Commits: every change of a store, as data.
//!
//! A [`Commit`] is one of five kinds. Each kind has its own type with the fields that are valid for
//! it, its own judgement and its own write path in every backend. The fields that all kinds share:
//!
//! - `now` is the time of the commit by the engine's clock.
//! - `id` identifies the commit if it is sent again; see [`Commit::id`].
//! - `guards` are conditions, judged in order.
//! - `rows` are the rows that change with the commit.

#![allow(missing_docs, reason = "plain data")]

mod append;
mod change;
mod commit_id;
mod create;
mod deliver;
mod gate;
mod guard;
mod lease;
mod remove;
mod rows;

pub use append::{AppendCommit, Executor};
pub use change::Commit;
pub use commit_id::CommitId;
pub use create::CreateCommit;
pub use deliver::DeliverCommit;
pub use gate::{Gate, GateChange};
pub use guard::Guard;
pub use lease::{Claim, ExecutorLease, Fence, InboxLease, LeaseChange};
pub use remove::RemoveCommit;
pub use rows::{RowChanges, RowsCommit};
