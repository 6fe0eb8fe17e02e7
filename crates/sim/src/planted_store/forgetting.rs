//! A bug that forgets dedup ids when a run moves to another node.

use everstep_model::StreamNumber;
use everstep_store::{Claim, Commit, Fence, LeaseChange};

use super::memory::Memory;

/// Makes a dedup id valid only while its run stays on one node.
pub(super) fn forget_dedup(memory: &Memory, commit: &mut Commit) {
    let Commit::Deliver(commit) = commit else {
        return;
    };
    let Some(id) = &mut commit.dedup else {
        return;
    };
    if let Some((_, takeovers)) = memory.holders.get(&commit.stream) {
        id.push_str(&format!("#{takeovers}"));
    }
}

/// Remembers which node has claimed a run.
pub(super) fn remember(
    memory: &mut Memory,
    commit: &Commit,
    stream: StreamNumber,
    taken: Option<Fence>,
) {
    let (Some(_), LeaseChange::Claim(Claim { node, .. })) = (taken, commit.lease()) else {
        return;
    };
    let (holder, takeovers) = memory.holders.entry(stream).or_insert((node, 0));
    if *holder != node {
        (*holder, *takeovers) = (node, *takeovers + 1);
    }
}
