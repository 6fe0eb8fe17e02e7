//! The path of every change into the store: commits are queued (`committer.rs`, `queue.rs`), sent
//! in batches (`sender.rs`, `in_flight.rs`), and have side effects once they are durable
//! (`post_commit.rs`). `projection/` derives rows from the records of a commit.

mod availability;
mod batch;
mod committer;
mod documents;
mod feed_marks;
mod in_flight;
mod post_commit;
pub(crate) mod projection;
mod queue;
mod sender;

pub(crate) use availability::StoreAvailability;
pub(crate) use committer::Committer;
pub use documents::Document;
pub(crate) use feed_marks::{mark_key, marks_of, position_key, position_row};
pub(crate) use post_commit::{OutboxSink, PostCommit, PostCommitSink, TimerSink};
pub use queue::Grouping;
