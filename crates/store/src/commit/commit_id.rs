//! The identity of a commit, by which a store recognises a repetition.

use everstep_model::NodeId;

/// Identifies a commit. A commit that is sent again under the same id takes effect once.
///
/// A sender numbers its commits, from 1, in the order in which it sends them. It sends a batch only
/// when it has the outcomes of all lower numbers or no longer needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommitId {
    /// The sender: a node, or one of several ids under which a node sends batches concurrently. A
    /// restarted node uses a new id.
    pub node: NodeId,
    pub number: u64,
}
