//! Bugs that ignore a guard or evaluate it too early.

use everstep_model::planted::Bug;
use everstep_store::{Commit, Guard, RowKey, Store};

use crate::stores::at_once;

/// Removes the guards that a bug ignores.
pub(super) fn overlook(bug: Bug, commit: &mut Commit) {
    let suspends = commit.ready() == Some(false) && !commit.closes();
    guards(commit).retain(|guard| match (bug, guard) {
        (Bug::TimerFiredTwice, Guard::RowPresent(RowKey::Timer(_))) => false,
        (Bug::ReadyClearedUnguarded, Guard::InboxSeen(_)) => !suspends,
        _ => true,
    });
}

/// Looks up the idempotency keys of a batch when it is sent, and removes the guards of those that
/// are free.
pub(super) fn without_free_keys(store: &dyn Store, batch: &[Commit]) -> Vec<Commit> {
    let is_free = |key: &RowKey| {
        let row = at_once(store.row(key.clone()));
        matches!(row, Ok(None))
    };
    let mut taken = batch.to_vec();
    for commit in &mut taken {
        guards(commit).retain(|guard| match guard {
            Guard::RowAbsent(key @ RowKey::Idempotency(..)) => !is_free(key),
            _ => true,
        });
    }
    taken
}

fn guards(commit: &mut Commit) -> &mut Vec<Guard> {
    match commit {
        Commit::Create(commit) => &mut commit.guards,
        Commit::Append(commit) => &mut commit.guards,
        Commit::Deliver(commit) => &mut commit.guards,
        Commit::ChangeRows(commit) => &mut commit.guards,
        Commit::Remove(commit) => &mut commit.guards,
    }
}
