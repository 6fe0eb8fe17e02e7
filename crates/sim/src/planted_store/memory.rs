//! What a store with a planted bug keeps besides its content.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{NodeId, StreamNumber};

/// What a store with a bug remembers, or has forgotten.
#[derive(Default)]
pub(super) struct Memory {
    /// The nonce of every right that was ever granted.
    pub(super) granted: BTreeSet<(StreamNumber, u64)>,
    /// Streams whose fence went with a compaction.
    pub(super) unfenced: BTreeSet<StreamNumber>,
    /// Who holds each run or held it last, and how often it went to another node.
    pub(super) holders: BTreeMap<StreamNumber, (NodeId, u64)>,
}
