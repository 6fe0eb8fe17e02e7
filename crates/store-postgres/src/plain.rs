//! Plain appends: an executor adds records to its run, and the commit does nothing else. Almost every step is one, so the
//! database serves all of them in one statement instead of judging them one by one.

use std::collections::HashMap;

use everstep_model::{ExecutorSeq, RecordNumber, StreamNumber};
use everstep_store::{Author, Commit, Fence, LeaseChange, Target};

use crate::commit::{Placed, named};

/// A commit that only appends.
pub(crate) struct PlainAppend<'a> {
    pub(crate) commit: &'a Commit,
    pub(crate) stream: StreamNumber,
    pub(crate) fence: Fence,
    pub(crate) seq: ExecutorSeq,
    pub(crate) seen: RecordNumber,
    pub(crate) progress: bool,
}

impl<'a> PlainAppend<'a> {
    /// The commit as one; none if it does, or asks for, anything else.
    pub(crate) fn of(commit: &'a Commit) -> Option<Self> {
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
            lease: LeaseChange::Keep,
            run: None,
            supersedes: None,
            status: None,
            ready: None,
            close: false,
            now: _,
            id: _,
            begins_at: _,
        } = commit
        else {
            return None;
        };
        let appends = !records.is_empty() && guards.is_empty();
        let leaves_rows = put.is_empty() && delete.is_empty() && drop.is_empty();
        (appends && leaves_rows).then_some(Self {
            commit,
            stream: *stream,
            fence: *fence,
            seq: *seq,
            seen: *seen,
            progress: *progress,
        })
    }
}

/// Commits to be judged, in their order, and plain appends, by the numbers of their streams. Only what shares its stream
/// with no other commit may leave the order.
pub(crate) fn split<'a>(placed: Vec<Placed<'a>>) -> (Vec<Placed<'a>>, Vec<Placed<'a>>) {
    let mut named_by: HashMap<StreamNumber, usize> = HashMap::with_capacity(placed.len());
    for number in placed.iter().flat_map(|(_, commit)| named(commit)) {
        *named_by.entry(number).or_default() += 1;
    }
    let is_alone = |append: PlainAppend<'_>| named_by.get(&append.stream) == Some(&1);
    let (mut appends, judged): (Vec<_>, Vec<_>) = placed
        .into_iter()
        .partition(|(_, commit)| PlainAppend::of(commit).is_some_and(is_alone));
    appends.sort_by_key(|(_, commit)| PlainAppend::of(commit).map(|append| append.stream));
    (judged, appends)
}
