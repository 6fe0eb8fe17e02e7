//! The handle to the streams of an engine.

use std::sync::Arc;
use std::time::Duration;

use everstep_model::Timestamp;

use super::memory::StreamMemory;
use crate::commit::{Committer, Documents, PostCommitSink};
use crate::node::Node;
use crate::observers::Watchers;

/// The streams of an engine. Clones are cheap.
#[derive(Clone)]
pub struct Streams {
    pub(super) parts: Arc<Parts>,
}

pub(super) struct Parts {
    pub(super) node: Arc<Node>,
    pub(super) committer: Arc<Committer>,
    pub(super) post_commit: Arc<PostCommitSink>,
    pub(super) watchers: Arc<Watchers>,
    pub(super) documents: Documents,
    pub(super) memory: StreamMemory,
}

impl Streams {
    pub(crate) fn new(
        node: Arc<Node>,
        committer: Arc<Committer>,
        post_commit: Arc<PostCommitSink>,
        watchers: Arc<Watchers>,
    ) -> Self {
        let documents = Documents {
            node: node.clone(),
            committer: committer.clone(),
        };
        let parts = Arc::new(Parts {
            documents,
            node,
            committer,
            post_commit,
            watchers,
            memory: StreamMemory::default(),
        });
        Self { parts }
    }

    /// The current time on the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.parts.node.now()
    }

    /// The time since an arbitrary moment, on a monotonic clock.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.parts.node.runtime.elapsed()
    }

    /// A random number from the engine's runtime.
    #[must_use]
    pub fn random(&self) -> u64 {
        self.parts.node.runtime.random()
    }
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Streams(node {})", self.parts.node.id)
    }
}
