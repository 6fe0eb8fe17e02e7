//! Stores that forget: dedup ids when a run goes to another node, and what was not synced when they crash.

use std::time::Duration;

use everstep_model::planted::Bug;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{Claim, Commit, Fence, LeaseChange, Store as _};

use super::store::{Memory, PlantedStore};
use crate::history::{Asked, History};

/// How often a store syncs that does not wait for it.
const SYNCS_EVERY: Duration = Duration::from_secs(1);

/// A dedup id is known as long as its run stays with one node.
pub(super) fn forget_dedup(store: &PlantedStore, commit: &mut Commit) {
    let Commit::Deliver(commit) = commit else {
        return;
    };
    let Some(id) = &mut commit.dedup else {
        return;
    };
    if let Some((_, takeovers)) = store.memory().holders.get(&commit.stream) {
        id.push_str(&format!("#{takeovers}"));
    }
}

/// Who holds a run after a commit.
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

impl PlantedStore {
    /// The store crashes and comes back with what is durable: everything that it answered, unless it answers before that.
    pub(crate) fn crash(&self, history: &mut History, now: Timestamp) {
        if !self.has(Bug::AckBeforeDurable) {
            return;
        }
        let is_synced = |at: Timestamp| at.until(now) >= SYNCS_EVERY;
        history.retain(is_synced);
        self.begin_again(|store, set_clock| {
            for (at, asked) in history.all() {
                set_clock(*at);
                match asked {
                    Asked::Commit(batch, _) => drop(store.commit(batch)),
                    Asked::Renew(lease) => drop(store.renew(*lease)),
                    Asked::Retire(node) => drop(store.retire(*node)),
                }
            }
        });
    }
}
