//! Bugs that accept commits of executors without a valid claim: epochs or nonces are not compared,
//! fences are lost, or the executor of a terminated run continues.

use everstep_model::planted::Bug;
use everstep_model::{Body, ExecutorSeq, Record, StreamNumber};
use everstep_store::{Commit, Fence, Head, InboxLease, Store, StreamRef};

use super::memory::Memory;
use crate::stores::at_once;

/// Accepts a commit that the fence should refuse, by giving it the current fence.
pub(super) fn overlook(store: &dyn Store, memory: &Memory, bug: Bug, commit: &mut Commit) {
    let Commit::Append(commit) = commit else {
        return;
    };
    let (stream, fence) = (commit.stream, commit.executor.fence);
    let Ok(Some(head)) = at_once(store.head(StreamRef::Number(stream))) else {
        return;
    };
    let is_overlooked = match bug {
        Bug::NoNonceCheck => fence.epoch == head.epoch,
        Bug::FenceDroppedByCompaction => memory.unfenced.contains(&stream),
        _ => memory.granted.contains(&(stream, fence.nonce.0)),
    };
    let in_force = head.fence().filter(|in_force| *in_force != fence);
    let (true, Some(in_force)) = (is_overlooked, in_force) else {
        return;
    };
    let in_turn = next_seq(&head);
    // A store that compares epochs also compares their sequences.
    if bug != Bug::NoNonceCheck {
        commit.executor.seq = in_turn;
    }
    commit.executor.fence = in_force;
}

fn next_seq(head: &Head) -> ExecutorSeq {
    match head.frame.epoch == head.epoch {
        true => head.frame.seq.next(),
        false => ExecutorSeq(1),
    }
}

/// Terminates a run without withdrawing the claim of its executor and without closing its journal.
pub(super) fn terminate_weakly(commit: &mut Commit) {
    let terminates = |record: &Record| matches!(record.body, Body::Terminated(_));
    if let Commit::Deliver(commit) = commit
        && commit.records.iter().any(terminates)
    {
        commit.lease = InboxLease::Keep;
        commit.close = false;
    }
}

/// Remembers what these bugs need to know about a commit.
pub(super) fn remember(
    memory: &mut Memory,
    commit: &Commit,
    stream: StreamNumber,
    taken: Option<Fence>,
) {
    if let Some(fence) = taken {
        memory.granted.insert((stream, fence.nonce.0));
        memory.unfenced.remove(&stream);
    }
    if !commit.dropped().is_empty() {
        memory.unfenced.insert(stream);
    }
}
