//! What a store with a planted bug keeps besides its content.

use std::collections::{BTreeMap, BTreeSet};

use everstep_model::{NodeId, StreamNumber};

/// What a store with a planted bug remembers.
#[derive(Default)]
pub(super) struct Memory {
    /// The nonces of all claims so far.
    pub(super) granted: BTreeSet<(StreamNumber, u64)>,
    /// Streams whose fence was lost in a compaction.
    pub(super) unfenced: BTreeSet<StreamNumber>,
    /// The last node that claimed each run, and the number of moves to another node.
    pub(super) holders: BTreeMap<StreamNumber, (NodeId, u64)>,
}
