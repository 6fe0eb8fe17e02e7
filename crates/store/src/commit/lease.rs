//! The right to execute a run, and how commits change it.

use everstep_model::{Epoch, NodeId, Nonce};

/// The right to execute a run. Every executor commit compares both fields with the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// Increases with every claim of the run.
    pub epoch: Epoch,
    /// The random mark of this claim.
    pub nonce: Nonce,
}

/// A request for the right to execute a run.
///
/// The claim succeeds if no live node holds the run; the epoch then increases by one. If a live
/// node holds the run, the rest of the commit still applies and the outcome reports no fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The claiming node.
    pub node: NodeId,
    /// A random mark that distinguishes this claim from others of the same node.
    pub nonce: Nonce,
}

/// What an executor does with its own right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutorLease {
    /// Keeps the right.
    #[default]
    Keep,
    /// Gives the run up; the count of takeovers without progress restarts.
    Release,
    /// Gives the run up because its execution was lost. This counts like the death of a node.
    Abandon,
    /// Gives the run up and raises the epoch.
    Revoke,
}

/// What an inbox commit does with the right to execute the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InboxLease {
    /// Leaves it as it is.
    #[default]
    Keep,
    /// Requests it.
    Claim(Claim),
    /// Withdraws it: the epoch rises and no node holds the run, so later commits of the former
    /// holder are refused.
    Revoke,
}

/// A change of the right to execute a run, whichever kind of commit makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseChange {
    /// See [`ExecutorLease::Keep`] and [`InboxLease::Keep`].
    Keep,
    /// See [`InboxLease::Claim`].
    Claim(Claim),
    /// See [`ExecutorLease::Release`].
    Release,
    /// See [`ExecutorLease::Abandon`].
    Abandon,
    /// See [`ExecutorLease::Revoke`] and [`InboxLease::Revoke`].
    Revoke,
}

impl From<ExecutorLease> for LeaseChange {
    fn from(lease: ExecutorLease) -> Self {
        match lease {
            ExecutorLease::Keep => Self::Keep,
            ExecutorLease::Release => Self::Release,
            ExecutorLease::Abandon => Self::Abandon,
            ExecutorLease::Revoke => Self::Revoke,
        }
    }
}

impl From<InboxLease> for LeaseChange {
    fn from(lease: InboxLease) -> Self {
        match lease {
            InboxLease::Keep => Self::Keep,
            InboxLease::Claim(claim) => Self::Claim(claim),
            InboxLease::Revoke => Self::Revoke,
        }
    }
}

impl From<Option<Claim>> for LeaseChange {
    fn from(claim: Option<Claim>) -> Self {
        claim.map_or(Self::Keep, Self::Claim)
    }
}
