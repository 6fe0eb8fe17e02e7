//! The conformance kit, and random batches against the reference.

use std::sync::Arc;

use everstep_store::Clock;
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::{Reopen, conformance, property, reopening, resending};

use crate::support::Installation;

fn open(clock: Arc<dyn Clock>) -> (PostgresStore, ()) {
    (Installation::with_clock(clock).open(), ())
}

conformance! { open }
resending! { open }
reopening! { Installation::with_clock }

#[test]
fn random_batches_end_as_in_the_reference() {
    property::check(100, Installation::with_clock);
}
