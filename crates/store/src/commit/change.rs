//! The five kinds of commits as one type, with accessors that work for all of them.

use everstep_model::{Record, RecordRange, RunStatus, StreamName, StreamNumber, Timestamp};

use super::append::{AppendCommit, Executor};
use super::commit_id::CommitId;
use super::create::CreateCommit;
use super::deliver::DeliverCommit;
use super::guard::Guard;
use super::lease::{ExecutorLease, InboxLease, LeaseChange};
use super::remove::RemoveCommit;
use super::rows::{RowChanges, RowsCommit};

/// One atomic change of the store: it applies as a whole, or not at all and the outcome gives the
/// reason.
#[derive(Clone, Debug)]
pub enum Commit {
    Create(CreateCommit),
    Append(AppendCommit),
    Deliver(DeliverCommit),
    ChangeRows(RowsCommit),
    Remove(RemoveCommit),
}

/// Borrows a field that all kinds have.
macro_rules! field {
    ($commit:expr, $field:ident $(, $mutable:tt)?) => {
        match $commit {
            Commit::Create(commit) => &$($mutable)? commit.$field,
            Commit::Append(commit) => &$($mutable)? commit.$field,
            Commit::Deliver(commit) => &$($mutable)? commit.$field,
            Commit::ChangeRows(commit) => &$($mutable)? commit.$field,
            Commit::Remove(commit) => &$($mutable)? commit.$field,
        }
    };
}

impl Commit {
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *field!(self, now)
    }

    /// Returns the id under which the commit may be sent again; `None` if it never is.
    #[must_use]
    pub fn id(&self) -> Option<CommitId> {
        *field!(self, id)
    }

    pub fn set_id(&mut self, id: CommitId) {
        *field!(self, id, mut) = Some(id);
    }

    #[must_use]
    pub fn guards(&self) -> &[Guard] {
        field!(self, guards)
    }

    #[must_use]
    pub fn rows(&self) -> &RowChanges {
        field!(self, rows)
    }

    pub fn rows_mut(&mut self) -> &mut RowChanges {
        field!(self, rows, mut)
    }

    /// Returns the existing stream that the commit changes, unless it is a removal.
    #[must_use]
    pub fn stream(&self) -> Option<StreamNumber> {
        match self {
            Self::Append(commit) => Some(commit.stream),
            Self::Deliver(commit) => Some(commit.stream),
            Self::ChangeRows(commit) => Some(commit.stream),
            Self::Create(_) | Self::Remove(_) => None,
        }
    }

    /// Returns all existing streams that the commit touches.
    pub fn streams(&self) -> impl Iterator<Item = StreamNumber> + '_ {
        let (removed, single) = match self {
            Self::Remove(commit) => (commit.streams.as_slice(), None),
            Self::Create(commit) => (&[][..], commit.supersedes),
            _ => (&[][..], self.stream()),
        };
        removed.iter().copied().chain(single)
    }

    /// Returns the name of the stream that the commit creates.
    #[must_use]
    pub fn created(&self) -> Option<&StreamName> {
        match self {
            Self::Create(commit) => Some(&commit.name),
            _ => None,
        }
    }

    #[must_use]
    pub fn executor(&self) -> Option<&Executor> {
        match self {
            Self::Append(commit) => Some(&commit.executor),
            _ => None,
        }
    }

    #[must_use]
    pub fn records(&self) -> &[Record] {
        match self {
            Self::Create(commit) => &commit.records,
            Self::Append(commit) => &commit.records,
            Self::Deliver(commit) => &commit.records,
            Self::ChangeRows(_) | Self::Remove(_) => &[],
        }
    }

    /// Takes the records out of the commit, for a caller that needs them after it.
    #[must_use]
    pub fn take_records(&mut self) -> Vec<Record> {
        match self {
            Self::Create(CreateCommit { records, .. })
            | Self::Append(AppendCommit { records, .. })
            | Self::Deliver(DeliverCommit { records, .. }) => std::mem::take(records),
            Self::ChangeRows(_) | Self::Remove(_) => Vec::new(),
        }
    }

    /// Returns the ranges of earlier records that the commit removes.
    #[must_use]
    pub fn dropped(&self) -> &[RecordRange] {
        match self {
            Self::Append(commit) => &commit.drop,
            Self::Deliver(commit) => &commit.drop,
            Self::Create(_) | Self::ChangeRows(_) | Self::Remove(_) => &[],
        }
    }

    #[must_use]
    pub fn dedup(&self) -> Option<&str> {
        match self {
            Self::Deliver(commit) => commit.dedup.as_deref(),
            _ => None,
        }
    }

    #[must_use]
    pub fn lease(&self) -> LeaseChange {
        match self {
            Self::Create(commit) => commit.claim.map_or(LeaseChange::Keep, LeaseChange::Claim),
            Self::Append(commit) => match commit.lease {
                ExecutorLease::Keep => LeaseChange::Keep,
                ExecutorLease::Release => LeaseChange::Release,
                ExecutorLease::Abandon => LeaseChange::Abandon,
                ExecutorLease::Revoke => LeaseChange::Revoke,
            },
            Self::Deliver(commit) => match commit.lease {
                InboxLease::Keep => LeaseChange::Keep,
                InboxLease::Claim(claim) => LeaseChange::Claim(claim),
                InboxLease::Revoke => LeaseChange::Revoke,
            },
            Self::ChangeRows(_) | Self::Remove(_) => LeaseChange::Keep,
        }
    }

    /// Returns the new status of an existing run.
    #[must_use]
    pub fn status(&self) -> Option<RunStatus> {
        match self {
            Self::Append(commit) => commit.status,
            Self::Deliver(commit) => commit.status,
            Self::Create(_) | Self::ChangeRows(_) | Self::Remove(_) => None,
        }
    }

    /// Returns the ready mark that the commit sets or clears.
    #[must_use]
    pub fn ready(&self) -> Option<bool> {
        match self {
            Self::Create(commit) => Some(commit.ready),
            Self::Append(commit) => commit.ready,
            Self::Deliver(commit) => commit.ready,
            Self::ChangeRows(_) | Self::Remove(_) => None,
        }
    }

    /// Returns whether the commit deletes rows and does nothing else.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        matches!(self, Self::ChangeRows(commit) if commit.only_deletes())
    }

    /// Returns whether the commit closes its stream.
    #[must_use]
    pub fn closes(&self) -> bool {
        match self {
            Self::Create(commit) => commit.close,
            Self::Append(commit) => commit.close,
            Self::Deliver(commit) => commit.close,
            Self::ChangeRows(_) | Self::Remove(_) => false,
        }
    }
}

macro_rules! from_kind {
    ($($kind:ident($commit:ident)),*) => {$(
        impl From<$commit> for Commit {
            fn from(commit: $commit) -> Self {
                Self::$kind(commit)
            }
        }
    )*};
}

from_kind! {
    Create(CreateCommit), Append(AppendCommit), Deliver(DeliverCommit), ChangeRows(RowsCommit),
    Remove(RemoveCommit)
}
