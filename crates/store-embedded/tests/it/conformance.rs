//! The conformance kit: cases of the contract and of reopening, and random batches.

use std::sync::Arc;

use everstep_store::Clock;
use everstep_store_embedded::EmbeddedStore;
use everstep_store_testkit::{Reopen, conformance, property, reopening};

use crate::directory::Directory;

fn open(clock: Arc<dyn Clock>) -> (EmbeddedStore, Directory) {
    let directory = Directory::new(clock);
    (directory.open(), directory)
}

conformance! { open }
reopening! { Directory::new }

#[test]
fn random_batches_and_reopenings_match_the_reference() {
    property::check(256, Directory::new);
}

#[test]
fn random_batches_match_the_reference_with_a_tiny_cache() {
    property::check(128, Directory::with_tiny_cache);
}
