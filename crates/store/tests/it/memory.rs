//! The in-memory store, case by case and under random batches.

use std::sync::Arc;

use everstep_store::{Clock, MemoryStore, Store};
use everstep_store_testkit::{Reopen, TestClock, conformance, property, resending};

fn open(clock: Arc<dyn Clock>) -> (MemoryStore, ()) {
    (MemoryStore::new(clock), ())
}

conformance! { open }
resending! { open }

/// Not durable, but shared: every opening is a handle to the same store.
struct Shared(MemoryStore);

impl Reopen for Shared {
    type Store = MemoryStore;
    fn open(&self) -> MemoryStore {
        self.0.clone()
    }
}

#[test]
fn random_batches_find_the_same_answers_twice() {
    property::check(64, |clock| Shared(MemoryStore::new(clock)));
}

#[test]
fn it_promises_nothing_beyond_the_process() {
    let store = MemoryStore::new(Arc::new(TestClock::new()));
    let description = store.describe();
    assert!(!description.exclusive);
    assert!(description.durability.contains("process"));
}
