//! Random batches, compared with the reference: after every turn, a store must have the same
//! outcomes and the same content as the in-memory store.
//!
//! A plan is data without numbers from any store (`plan`), so that it shrinks well. It is turned
//! into commits based on the current content of the reference (`resolve`). After each turn, both
//! stores are compared through the whole contract (`compare`).

mod account;
mod compare;
mod plan;
mod resolve;
mod workload;

use std::sync::Arc;

use everstep_store::{Clock, CommitId, MemoryStore, Store};
use proptest::test_runner::{Config, TestRunner};

use crate::block_on::block_on;
use crate::clock::TestClock;
use crate::fixture::{Fixture, Reopen};
pub use account::Account;
use compare::same_everything;
use plan::{Turn, turns};
use resolve::{batch, node};
pub use workload::Workload;

/// Runs `cases` random plans of up to 90 turns on fresh storage. A failing plan is shrunk and
/// shown.
pub fn check<R: Reopen>(cases: u32, storage: impl Fn(Arc<dyn Clock>) -> R) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4_096,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&turns(), |turns| {
        let clock = Arc::new(TestClock::new());
        block_on(execute(&storage(clock.clone()), clock, &turns));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

async fn execute<R: Reopen>(storage: &R, clock: Arc<TestClock>, turns: &[Turn]) {
    let reference = Fixture {
        store: MemoryStore::new(clock.clone()),
        clock: clock.clone(),
    };
    let mut candidate = Fixture::open(storage, &clock);
    let exclusive = candidate.store.describe().exclusive;
    let mut sent = 0;
    for turn in turns {
        match turn {
            Turn::Commit(changes) => {
                let batch = batch(&reference, changes).await;
                let expected = reference.commit(batch.clone()).await;
                let found = candidate.commit(batch).await;
                assert_eq!(found, expected, "outcomes of {changes:?}");
            }
            Turn::Send {
                sender,
                again,
                changes,
            } => {
                let mut batch = batch(&reference, changes).await;
                // An exclusive store ignores ids, so nothing is sent to it again.
                let times = if *again && !exclusive { 2 } else { 1 };
                for commit in batch.iter_mut().filter(|_| !exclusive) {
                    sent += 1;
                    let node = node(*sender);
                    commit.set_id(CommitId { node, number: sent });
                }
                for time in 0..times {
                    let expected = reference.commit(batch.clone()).await;
                    let found = candidate.commit(batch.clone()).await;
                    assert_eq!(
                        found, expected,
                        "outcomes of {changes:?}, repeated {time} times"
                    );
                }
            }
            Turn::Advance(by) => clock.advance(*by),
            Turn::Renew(number, ttl) => {
                reference.renew(node(*number), *ttl).await;
                candidate.renew(node(*number), *ttl).await;
            }
            Turn::Retire(number) => {
                reference.store.retire(node(*number)).await.unwrap();
                candidate.store.retire(node(*number)).await.unwrap();
            }
            Turn::Reopen => {
                drop(candidate);
                candidate = Fixture::open(storage, &clock);
                if exclusive {
                    forget_leases(&reference.store).await;
                }
            }
            Turn::Query(query) => {
                compare::same_list(&candidate, &reference, query).await;
                compare::same_due(&candidate, &reference).await;
            }
        }
        compare::same_heads(&candidate, &reference).await;
    }
    same_everything(&candidate, &reference).await;
    drop(candidate);
    let candidate = Fixture::open(storage, &clock);
    if exclusive {
        forget_leases(&reference.store).await;
    }
    same_everything(&candidate, &reference).await;
}

async fn forget_leases(reference: &MemoryStore) {
    for number in 0..plan::NODES {
        reference.retire(node(number)).await.unwrap();
    }
}
