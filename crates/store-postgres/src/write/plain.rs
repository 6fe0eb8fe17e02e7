//! Plain commits: an executor appends to its run or leaves it, and a run is created. Nearly all
//! commits of a busy node are plain, and the database applies all of a kind in one statement
//! (`sql/plain.sql`) instead of judging each.

use everstep_model::{Generation, RecordNumber};
use everstep_store::{AppendCommit, Commit, CreateCommit, ExecutorLease, Gate, Guard, RunRow};

use crate::number::count;

/// A commit and its position in the batch.
pub(crate) type BatchItem<'a> = (usize, &'a Commit);

/// Identifies a plain commit in its call: by its number or, negated, its position if it has none.
pub(crate) fn label((at, commit): BatchItem<'_>) -> i64 {
    let number = commit.id().map(|id| count(id.number));
    number.unwrap_or_else(|| -count(at as u64) - 1)
}

/// An executor's commit that only appends, and may leave the run.
pub(crate) struct PlainAppend<'a> {
    pub(crate) commit: &'a AppendCommit,
    /// The number of inbox records that a guard requires.
    pub(crate) inbox_seen: Option<u64>,
    pub(crate) leaves: bool,
}

impl<'a> PlainAppend<'a> {
    /// Returns `None` if the commit is not plain.
    pub(crate) fn of(commit: &'a AppendCommit) -> Option<Self> {
        let leaves = match (commit.lease, commit.ready, commit.status) {
            (ExecutorLease::Keep, None, _) => false,
            (ExecutorLease::Release, Some(false), Some(_)) => true,
            _ => return None,
        };
        let inbox_seen = match commit.guards.as_slice() {
            [] => None,
            [Guard::InboxSeen(seen)] => Some(*seen),
            _ => return None,
        };
        let is_plain = !commit.records.is_empty()
            && commit.rows.is_empty()
            && commit.drop.is_empty()
            && commit.gate.is_none()
            && (leaves || !commit.close);
        is_plain.then_some(Self {
            commit,
            inbox_seen,
            leaves,
        })
    }
}

/// The creation of the first generation of a run, without guards and rows.
pub(crate) struct PlainCreate<'a> {
    pub(crate) commit: &'a CreateCommit,
    pub(crate) run: &'a RunRow,
}

impl<'a> PlainCreate<'a> {
    /// Returns `None` if the commit is not plain.
    pub(crate) fn of(commit: &'a CreateCommit) -> Option<Self> {
        let run = commit.run.as_deref()?;
        let is_first = run.generation == Generation::FIRST
            && commit.supersedes.is_none()
            && commit.begins_at == RecordNumber(0)
            && commit.name.user_path().is_none();
        let is_bare = commit.guards.is_empty() && commit.rows.is_empty();
        let is_open = commit.gate == Gate::Open && !commit.close;
        let is_plain = is_first && is_bare && is_open && !commit.records.is_empty();
        is_plain.then_some(Self { commit, run })
    }
}
