//! The property driver finds a store that differs, here one that forgets when it is reopened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use everstep_store::{Clock, MemoryStore};
use everstep_store_testkit::{Reopen, property};

struct Forgetful(Arc<dyn Clock>);

impl Reopen for Forgetful {
    type Store = MemoryStore;
    fn open(&self) -> MemoryStore {
        MemoryStore::new(self.0.clone())
    }
}

#[test]
fn a_store_that_forgets_is_caught() {
    let outcome = catch_unwind(AssertUnwindSafe(|| property::check(64, Forgetful)));
    assert!(outcome.is_err());
}
