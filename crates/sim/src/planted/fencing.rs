//! Stores that let somebody append who has no right to: one that does not compare epochs, one that does not compare nonces, one
//! that loses fences, and one that lets executors go on after their run was terminated.

use everstep_model::planted::Bug;
use everstep_model::{Body, ExecutorSeq, StreamNumber};
use everstep_store::{Author, Commit, Fence, Head, LeaseChange, Target};

use super::store::{Memory, PlantedStore};

/// Where commits go that nobody takes.
const NOWHERE: StreamNumber = StreamNumber(u64::MAX);

/// Lets a commit pass that a fence should stop: it is judged as if its right were the one in force.
pub(super) fn overlook(store: &PlantedStore, bug: Bug, commit: &mut Commit) {
    let (Target::Stream(stream), Author::Executor { fence, .. }) = (&commit.target, commit.author)
    else {
        return;
    };
    let stream = *stream;
    let Some(head) = store.head_of(stream) else {
        return;
    };
    let is_overlooked = match bug {
        Bug::NoNonceCheck => fence.epoch == head.epoch,
        Bug::FenceDroppedByCompaction => store.memory().unfenced.contains(&stream),
        _ => store.memory().granted.contains(&(stream, fence.nonce.0)),
    };
    let in_force = head.fence().filter(|in_force| *in_force != fence);
    let (true, Some(in_force)) = (is_overlooked, in_force) else {
        return;
    };
    let in_turn = next_seq(&head);
    if let Author::Executor { fence, seq, .. } = &mut commit.author {
        // Where epochs are compared, so are their sequences.
        if fence.epoch != in_force.epoch {
            *seq = in_turn;
        }
        *fence = in_force;
    }
}

fn next_seq(head: &Head) -> ExecutorSeq {
    match head.frame.epoch == head.epoch {
        true => head.frame.seq.next(),
        false => ExecutorSeq(1),
    }
}

/// Terminating a run is a record and nothing else. Others are turned away from there on; its executor is not.
pub(super) fn let_go_on(store: &PlantedStore, commit: &mut Commit) {
    let Target::Stream(stream) = commit.target else {
        return;
    };
    if commit.author != Author::Inbox || commit.only_deletes() {
        return;
    }
    if store.memory().terminated.contains(&stream) {
        commit.target = Target::Stream(NOWHERE);
        return;
    }
    let ends = ends_it(commit);
    if commit.lease == LeaseChange::Revoke && (ends || commit.records.is_empty()) {
        commit.lease = LeaseChange::Keep;
        commit.close = false;
    }
}

/// Whether a commit was sent nowhere.
pub(super) fn is_turned_away(commit: &Commit) -> bool {
    commit.target == Target::Stream(NOWHERE)
}

fn ends_it(commit: &Commit) -> bool {
    let last = commit.records.last().map(|record| &record.body);
    matches!(last, Some(Body::Terminated(_)))
}

/// What these bugs need to know of a commit that landed.
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
    if !commit.drop.is_empty() {
        memory.unfenced.insert(stream);
    }
}

/// A run was terminated, as far as anybody but its executor is concerned.
pub(super) fn remember_end(memory: &mut Memory, commit: &Commit, stream: StreamNumber) {
    if ends_it(commit) {
        memory.terminated.insert(stream);
    }
}
