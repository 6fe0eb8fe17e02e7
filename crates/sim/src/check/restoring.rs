//! Invariant 7: the content of a store follows from its history. The recorded commits are applied
//! to an empty store, which must give the same outcomes and end in the same state.

use std::sync::Arc;

use everstep_store::{MemoryStore, Store, StreamRef};
use everstep_store_testkit::TestClock;
use futures_util::FutureExt as _;

use crate::cluster::World;
use crate::observed::{History, StoreChange, Violation};

pub(super) fn check(world: &World) -> Vec<Violation> {
    let clock = Arc::new(TestClock::new());
    let restored = MemoryStore::new(clock.clone());
    let mut found = replay(&world.history(), &clock, &restored);
    for stream in world.journals().streams() {
        let head = |store: &dyn Store| {
            let head = store.head(StreamRef::Number(stream.number)).now_or_never();
            head.and_then(Result::ok).flatten()
        };
        if head(&restored) != head(&*world.store) {
            found.push(stream.violation(7, "it has another head in a restored store"));
        }
    }
    found
}

fn replay(history: &History, clock: &TestClock, store: &MemoryStore) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, change) in history.all() {
        clock.set(*at);
        match change {
            StoreChange::Commit(batch, outcomes) => {
                let now = store.commit(batch).now_or_never().and_then(Result::ok);
                if now.as_ref() != Some(outcomes) {
                    let what =
                        format!("the outcomes were {outcomes:?}, and {now:?} in a restored store");
                    found.push(Violation::of(7, what));
                }
            }
            StoreChange::Renew(lease) => drop(store.renew(*lease)),
            StoreChange::Retire(node) => drop(store.retire(*node)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::samples::{FINE, at, broken, committed, creation};

    #[test]
    fn a_history_with_other_outcomes_is_found() {
        let found = |first| {
            let mut history = History::default();
            let batch = Arc::from(vec![creation("a").into()]);
            history.add(at(1), StoreChange::Commit(batch, vec![committed(1, first)]));
            let clock = Arc::new(TestClock::new());
            let store = MemoryStore::new(clock.clone());
            broken(&replay(&history, &clock, &store))
        };
        assert_eq!(found(0), FINE);
        assert_eq!(found(1), [7]);
    }
}
