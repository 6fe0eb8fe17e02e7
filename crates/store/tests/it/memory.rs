//! The conformance kit on the in-memory store.

use std::sync::Arc;

use everstep_store::{Clock, MemoryStore, Store};
use everstep_store_testkit::{Reopen, TestClock, conformance, property, resending};

fn open(clock: Arc<dyn Clock>) -> (MemoryStore, ()) {
    (MemoryStore::new(clock), ())
}

conformance! { open }
resending! { open }

/// Every opening returns a handle to the same store, which is not durable.
struct Shared(MemoryStore);

impl Reopen for Shared {
    type Store = MemoryStore;
    fn open(&self) -> MemoryStore {
        self.0.clone()
    }
}

#[test]
fn random_batches_have_deterministic_outcomes() {
    property::check(64, |clock| Shared(MemoryStore::new(clock)));
}

#[test]
fn the_description_promises_no_durability() {
    let store = MemoryStore::new(Arc::new(TestClock::new()));
    let description = store.describe();
    assert!(!description.exclusive);
    assert!(description.durability.contains("process"));
}
