//! The identity of a commit, by which a store recognises a repetition.

use everstep_model::NodeId;

/// Identifies a commit. A commit that is sent again under the same id takes effect once.
///
/// A sender numbers its commits in the order in which it sends them. It sends a batch when it knows the outcome of
/// everything numbered lower, or has given that up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommitId {
    /// The sender: a node, or one of several names under which a node sends batches concurrently. A restarted node
    /// uses a new id.
    pub node: NodeId,
    /// The number of the commit, from 1.
    pub number: u64,
}
