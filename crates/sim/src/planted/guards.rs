//! Stores that do not judge a guard, or judge it too early.

use everstep_model::planted::Bug;
use everstep_store::{Commit, Guard, RowKey, Store as _};

use super::store::{PlantedStore, at_once};

/// Takes the guards from a commit that a bug does not judge.
pub(super) fn overlook(bug: Bug, commit: &mut Commit) {
    let rests = commit.ready() == Some(false) && !commit.closes();
    commit.guards_mut().retain(|guard| match (bug, guard) {
        (Bug::TimerFiredTwice, Guard::RowPresent(RowKey::Timer(_))) => false,
        (Bug::ReadyClearedUnguarded, Guard::InboxSeen(_)) => !rests,
        _ => true,
    });
}

/// A batch whose idempotency keys were looked up as it was sent: where one was free, nobody asks again.
pub(super) fn keys_looked_up(store: &PlantedStore, batch: &[Commit]) -> Vec<Commit> {
    let is_free = |key: &RowKey| {
        let row = at_once(store.row(key.clone()));
        matches!(row, Ok(None))
    };
    let mut taken = batch.to_vec();
    for commit in &mut taken {
        commit.guards_mut().retain(|guard| match guard {
            Guard::RowAbsent(key @ RowKey::Idempotency(..)) => !is_free(key),
            _ => true,
        });
    }
    taken
}
