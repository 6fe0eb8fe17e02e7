//! The property test detects a store that loses its data when it is reopened.

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
fn a_store_that_loses_data_is_detected() {
    let outcome = catch_unwind(AssertUnwindSafe(|| property::check(64, Forgetful)));
    assert!(outcome.is_err());
}
