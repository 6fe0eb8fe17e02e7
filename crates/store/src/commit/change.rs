//! The five kinds of commits as one type, and what readers need of any of them.

use everstep_model::{Record, RecordRange, RunStatus, StreamName, StreamNumber, Timestamp};

use super::append::{AppendCommit, Executor};
use super::commit_id::CommitId;
use super::create::CreateCommit;
use super::deliver::DeliverCommit;
use super::guard::Guard;
use super::lease::LeaseChange;
use super::remove::RemoveCommit;
use super::row_changes::RowChanges;
use super::rows::RowsCommit;

/// One atomic change of the store: it applies as a whole, or not at all and the outcome gives the
/// reason.
#[derive(Clone, Debug)]
pub enum Commit {
    /// Creates a stream.
    Create(CreateCommit),
    /// Appends to a run as its executor.
    Append(AppendCommit),
    /// Delivers to the inbox of a stream.
    Deliver(DeliverCommit),
    /// Changes rows only.
    ChangeRows(RowsCommit),
    /// Removes streams.
    Remove(RemoveCommit),
}

/// A field that all kinds have.
macro_rules! common {
    ($commit:expr, $field:ident) => {
        match $commit {
            Commit::Create(commit) => &commit.$field,
            Commit::Append(commit) => &commit.$field,
            Commit::Deliver(commit) => &commit.$field,
            Commit::ChangeRows(commit) => &commit.$field,
            Commit::Remove(commit) => &commit.$field,
        }
    };
}

impl Commit {
    /// The engine's clock when the commit was made.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *common!(self, now)
    }

    /// Identifies the commit if it is sent again; `None` if it never is.
    #[must_use]
    pub fn id(&self) -> Option<CommitId> {
        *common!(self, id)
    }

    /// Sets [`Commit::id`].
    pub fn set_id(&mut self, id: CommitId) {
        let field = match self {
            Self::Create(commit) => &mut commit.id,
            Self::Append(commit) => &mut commit.id,
            Self::Deliver(commit) => &mut commit.id,
            Self::ChangeRows(commit) => &mut commit.id,
            Self::Remove(commit) => &mut commit.id,
        };
        *field = Some(id);
    }

    /// Its conditions, in the order in which they are judged.
    #[must_use]
    pub fn guards(&self) -> &[Guard] {
        common!(self, guards)
    }

    /// Its conditions, for tests that change them.
    pub fn guards_mut(&mut self) -> &mut Vec<Guard> {
        match self {
            Self::Create(commit) => &mut commit.guards,
            Self::Append(commit) => &mut commit.guards,
            Self::Deliver(commit) => &mut commit.guards,
            Self::ChangeRows(commit) => &mut commit.guards,
            Self::Remove(commit) => &mut commit.guards,
        }
    }

    /// The rows that change with it.
    #[must_use]
    pub fn rows(&self) -> &RowChanges {
        common!(self, rows)
    }

    /// The existing stream that it is about, unless it is a removal.
    #[must_use]
    pub fn stream(&self) -> Option<StreamNumber> {
        match self {
            Self::Append(commit) => Some(commit.stream),
            Self::Deliver(commit) => Some(commit.stream),
            Self::ChangeRows(commit) => Some(commit.stream),
            Self::Create(_) | Self::Remove(_) => None,
        }
    }

    /// Every existing stream that it touches.
    pub fn streams(&self) -> impl Iterator<Item = StreamNumber> + '_ {
        let removed = match self {
            Self::Remove(commit) => commit.streams.as_slice(),
            _ => &[],
        };
        let superseded = match self {
            Self::Create(commit) => commit.supersedes,
            _ => None,
        };
        let single = self.stream().or(superseded);
        removed.iter().copied().chain(single)
    }

    /// The name of the stream that it creates.
    #[must_use]
    pub fn created(&self) -> Option<&StreamName> {
        match self {
            Self::Create(commit) => Some(&commit.name),
            _ => None,
        }
    }

    /// The executor that wrote it.
    #[must_use]
    pub fn executor(&self) -> Option<&Executor> {
        match self {
            Self::Append(commit) => Some(&commit.executor),
            _ => None,
        }
    }

    /// The records that it appends.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        match self {
            Self::Create(commit) => &commit.records,
            Self::Append(commit) => &commit.records,
            Self::Deliver(commit) => &commit.records,
            Self::ChangeRows(_) | Self::Remove(_) => &[],
        }
    }

    /// Takes the records out of it, for a caller that needs them after the commit.
    #[must_use]
    pub fn take_records(&mut self) -> Vec<Record> {
        match self {
            Self::Create(commit) => std::mem::take(&mut commit.records),
            Self::Append(commit) => std::mem::take(&mut commit.records),
            Self::Deliver(commit) => std::mem::take(&mut commit.records),
            Self::ChangeRows(_) | Self::Remove(_) => Vec::new(),
        }
    }

    /// The ranges of earlier records that it removes.
    #[must_use]
    pub fn dropped(&self) -> &[RecordRange] {
        match self {
            Self::Append(commit) => &commit.drop,
            Self::Deliver(commit) => &commit.drop,
            Self::Create(_) | Self::ChangeRows(_) | Self::Remove(_) => &[],
        }
    }

    /// The dedup id of a delivery.
    #[must_use]
    pub fn dedup(&self) -> Option<&str> {
        match self {
            Self::Deliver(commit) => commit.dedup.as_deref(),
            _ => None,
        }
    }

    /// What it does with the right to execute the run.
    #[must_use]
    pub fn lease(&self) -> LeaseChange {
        match self {
            Self::Create(commit) => commit.claim.into(),
            Self::Append(commit) => commit.lease.into(),
            Self::Deliver(commit) => commit.lease.into(),
            Self::ChangeRows(_) | Self::Remove(_) => LeaseChange::Keep,
        }
    }

    /// The status that it gives to an existing run.
    #[must_use]
    pub fn status(&self) -> Option<RunStatus> {
        match self {
            Self::Append(commit) => commit.status,
            Self::Deliver(commit) => commit.status,
            Self::Create(_) | Self::ChangeRows(_) | Self::Remove(_) => None,
        }
    }

    /// The ready mark that it sets or clears.
    #[must_use]
    pub fn ready(&self) -> Option<bool> {
        match self {
            Self::Create(commit) => Some(commit.ready),
            Self::Append(commit) => commit.ready,
            Self::Deliver(commit) => commit.ready,
            Self::ChangeRows(_) | Self::Remove(_) => None,
        }
    }

    /// Whether it deletes rows and does nothing else.
    #[must_use]
    pub fn only_deletes(&self) -> bool {
        matches!(self, Self::ChangeRows(commit) if commit.only_deletes())
    }

    /// Whether it closes its stream.
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

impl From<CreateCommit> for Commit {
    fn from(commit: CreateCommit) -> Self {
        Self::Create(commit)
    }
}

impl From<AppendCommit> for Commit {
    fn from(commit: AppendCommit) -> Self {
        Self::Append(commit)
    }
}

impl From<DeliverCommit> for Commit {
    fn from(commit: DeliverCommit) -> Self {
        Self::Deliver(commit)
    }
}

impl From<RowsCommit> for Commit {
    fn from(commit: RowsCommit) -> Self {
        Self::ChangeRows(commit)
    }
}

impl From<RemoveCommit> for Commit {
    fn from(commit: RemoveCommit) -> Self {
        Self::Remove(commit)
    }
}
