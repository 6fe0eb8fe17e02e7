//! Invariant 7: a store follows from its history. The recorded commits are given to an empty store, which must answer each as the
//! first one did and end up the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use everstep_model::Timestamp;
use everstep_store::{Clock, MemoryStore, Store, StreamRef};
use futures_util::FutureExt as _;

use super::Violation;
use crate::cluster::World;
use crate::history::{Asked, History};

/// The clock of the history.
#[derive(Default)]
struct Then(AtomicU64);

impl Clock for Then {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

pub(super) fn check(world: &World) -> Vec<Violation> {
    let clock = Arc::new(Then::default());
    let restored = MemoryStore::new(clock.clone());
    let mut found = replay(&world.history(), &clock, &restored);
    for stream in world.journals().streams() {
        let head = |store: &dyn Store| {
            let head = store.head(StreamRef::Number(stream.number)).now_or_never();
            head.and_then(Result::ok).flatten()
        };
        if head(&restored) != head(&world.store) {
            let what = format!("{} is another one in a restored store", stream.told());
            found.push(Violation::of(7, what));
        }
    }
    found
}

fn replay(history: &History, clock: &Then, store: &MemoryStore) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, asked) in history.all() {
        clock.0.store(at.as_millis(), Ordering::Relaxed);
        match asked {
            Asked::Commit(batch, outcomes) => {
                let now = store.commit(batch).now_or_never().and_then(Result::ok);
                if now.as_ref() != Some(outcomes) {
                    let what =
                        format!("a batch became {outcomes:?}, and {now:?} when it was restored");
                    found.push(Violation::of(7, what));
                }
            }
            Asked::Renew(lease) => drop(store.renew(*lease)),
            Asked::Retire(node) => drop(store.retire(*node)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::support::{FINE, at, broken, committed, creation};
    use super::*;

    #[test]
    fn a_history_that_the_store_would_not_repeat_is_found() {
        let found = |first| {
            let mut history = History::default();
            let batch = Arc::from(vec![creation("a").into()]);
            history.add(at(1), Asked::Commit(batch, vec![committed(1, first)]));
            let clock = Arc::new(Then::default());
            let store = MemoryStore::new(clock.clone());
            broken(&replay(&history, &clock, &store))
        };
        assert_eq!(found(0), FINE);
        assert_eq!(found(1), [7]);
    }
}
