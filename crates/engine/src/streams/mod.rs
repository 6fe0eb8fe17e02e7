//! Users' streams: created, appended to, read, forked, closed, deleted and left to expire, on the store and the committer
//! that runs live on. One file per verb or concept; `docs/adr/0009-user-streams.md` says why it is as it is.
//!
//! Every change is decided from rows that were read (`decide.rs` and `config.rs` are pure) and committed under the
//! condition that those rows are still the same; if not, it is decided again.

mod append;
mod chain;
mod config;
mod content_type;
mod create;
mod decide;
mod delete;
mod document;
mod error;
mod expiry;
mod fork;
mod found;
mod journal;
mod messages;
mod path;
mod producer;
mod read;
mod state;

use std::sync::Arc;

use crate::core::Core;

pub use append::{Append, Appended};
pub use config::{Create, Created, Fork, Lifetime};
pub use content_type::ContentType;
pub use document::Document;
pub use error::StreamError;
pub use found::StreamInfo;
pub use journal::{Journal, Render};
pub use messages::as_json_array;
#[cfg(test)]
pub(crate) use messages::messages as messages_of;
pub use path::{InvalidPath, StreamPath};
pub use producer::Producer;
pub use read::{Chunk, ReadFrom, Reader};
pub(crate) use state::StreamsState;

/// The streams of an engine. Clones are cheap.
#[derive(Clone)]
pub struct Streams {
    pub(crate) core: Arc<Core>,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Streams(node {})", self.core.node)
    }
}
