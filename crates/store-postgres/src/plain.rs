//! Plain commits: an executor appends to its run, or leaves it, and a run is born. Nearly all commits of a busy node are, and the
//! database serves all of a kind in one statement (`sql/plain.sql`) instead of judging them one by one.

use everstep_model::{ExecutorSeq, Generation, RecordNumber, StreamName, StreamNumber};
use everstep_store::{Author, Commit, Fence, Guard, LeaseChange, RunRow, Target};

/// An executor's commit that does nothing but append, and perhaps leave the run.
pub(crate) struct Appending {
    pub(crate) stream: StreamNumber,
    pub(crate) fence: Fence,
    pub(crate) seq: ExecutorSeq,
    pub(crate) seen: RecordNumber,
    pub(crate) progress: bool,
    /// How many records of the inbox it must be, if that matters.
    pub(crate) inbox_seen: Option<u64>,
    /// Whether it gives the run up.
    pub(crate) leaves: bool,
}

impl Appending {
    /// The commit as one; none if it does, or asks for, anything else.
    pub(crate) fn of(commit: &Commit) -> Option<Self> {
        let Commit {
            target: Target::Stream(stream),
            author:
                Author::Executor {
                    fence,
                    seq,
                    seen,
                    progress,
                },
            records,
            guards,
            put,
            delete,
            drop,
            dedup: None,
            lease,
            run: None,
            supersedes: None,
            status,
            ready,
            close,
            now: _,
            id: _,
            begins_at: _,
        } = commit
        else {
            return None;
        };
        let leaves = match (lease, ready, status) {
            (LeaseChange::Keep, None, _) => false,
            (LeaseChange::Release, Some(false), Some(_)) => true,
            _ => return None,
        };
        let inbox_seen = match guards.as_slice() {
            [] => None,
            [Guard::InboxSeen(seen)] => Some(*seen),
            _ => return None,
        };
        let leaves_rows = put.is_empty() && delete.is_empty() && drop.is_empty();
        let is_plain = !records.is_empty() && leaves_rows && (leaves || !close);
        is_plain.then_some(Self {
            stream: *stream,
            fence: *fence,
            seq: *seq,
            seen: *seen,
            progress: *progress,
            inbox_seen,
            leaves,
        })
    }
}

/// The creation of a run, and nothing else.
pub(crate) struct Birth<'a> {
    pub(crate) name: &'a StreamName,
    pub(crate) run: &'a RunRow,
}

impl<'a> Birth<'a> {
    /// The commit as one; none if it does, or asks for, anything else.
    pub(crate) fn of(commit: &'a Commit) -> Option<Self> {
        let Commit {
            target: Target::Create(name),
            author: Author::Inbox,
            records,
            guards,
            put,
            delete,
            drop,
            dedup: None,
            lease: LeaseChange::Keep | LeaseChange::TakeIfFree { .. },
            run: Some(run),
            supersedes: None,
            status: None,
            ready: _,
            close: false,
            now: _,
            id: _,
            begins_at: RecordNumber(0),
        } = commit
        else {
            return None;
        };
        let asks_nothing = guards.is_empty() && put.is_empty() && delete.is_empty();
        let is_run = run.generation == Generation::FIRST && name.user_path().is_none();
        let is_plain = asks_nothing && drop.is_empty() && !records.is_empty() && is_run;
        is_plain.then_some(Self { name, run })
    }
}
