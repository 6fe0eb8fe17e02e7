//! Streams of users: created, appended to, read, forked, closed, deleted and expiring, on the same
//! store and committer as runs. `docs/adr/0009-user-streams.md` explains the design.
//!
//! Every change is decided from rows that were read (`decide.rs` and `config.rs` are pure) and
//! committed on condition that those rows have not changed. If they have, it is decided again.

mod append;
mod chain;
mod config;
mod content_type;
mod create;
mod decide;
mod delete;
mod error;
mod expiry;
mod feeds;
mod fork;
mod found;
mod handle;
mod journal;
mod memory;
mod messages;
mod path;
mod producer;
mod read;

pub use crate::commit::Document;
pub use config::{Create, Created, Fork, Lifetime};
pub use content_type::ContentType;
pub use decide::{Append, Appended};
pub use error::StreamError;
pub use feeds::{FEEDS, FeedRecord};
pub use found::StreamInfo;
pub use handle::Streams;
pub use journal::Journal;
pub use messages::as_json_array;
#[cfg(test)]
pub(crate) use messages::messages as messages_of;
pub use path::{InvalidPath, StreamPath};
pub use producer::Producer;
pub use read::{Chunk, JournalView, ReadFrom, Reader, Render};
