//! The right to execute a run, and how commits change it.

use everstep_model::{Epoch, NodeId, Nonce};

/// The right to execute a run. Every executor commit compares both fields with the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// Increases with every claim of the run.
    pub epoch: Epoch,
    /// The random mark of the claim.
    pub nonce: Nonce,
}

/// A request for the right to execute a run.
///
/// The claim succeeds if no live node holds the run; the epoch then increases by one. If a live
/// node holds the run, the rest of the commit still applies and the outcome reports no fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub node: NodeId,
    /// A random mark that distinguishes this claim from others of the same node.
    pub nonce: Nonce,
}

/// A change of the right to execute by the executor that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutorLease {
    #[default]
    Keep,
    /// Gives the run up and resets the count of takeovers without progress.
    Release,
    /// Gives the run up because its execution was lost. This counts like the failure of a node.
    Abandon,
    /// Gives the run up and raises the epoch.
    Revoke,
}

/// A change of the right to execute by an inbox commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InboxLease {
    #[default]
    Keep,
    Claim(Claim),
    /// Withdraws the right: the epoch rises and no node holds the run, so later commits of the
    /// former holder are refused.
    Revoke,
}

/// A change of the right to execute by a commit of any kind; see [`ExecutorLease`] and
/// [`InboxLease`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseChange {
    Keep,
    Claim(Claim),
    Release,
    Abandon,
    Revoke,
}
