//! Calls are counted, and faults occur according to the schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use everstep_store::{CommitId, MemoryStore, Store, StreamRef};
use everstep_store_testkit::sample::{NODE, creation, event, inbox};
use everstep_store_testkit::{Counting, Fault, Faulty, Fixture, TestClock, block_on};

fn fixture<S>(wrap: impl FnOnce(MemoryStore) -> S) -> Fixture<S> {
    let clock = Arc::new(TestClock::new());
    let store = wrap(MemoryStore::new(clock.clone()));
    Fixture { store, clock }
}

#[test]
fn calls_are_counted_by_kind() {
    let f = fixture(Counting::new);
    block_on(async {
        f.commit(vec![creation("a"), creation("b")]).await;
        f.head_of("a").await;
        f.ready().await;
        f.store
            .inner()
            .head(StreamRef::Number(Default::default()))
            .await
            .unwrap();
    });
    let calls = f.store.calls();
    assert_eq!(
        (
            calls.batches,
            calls.commits,
            calls.heads,
            calls.ready,
            calls.reads
        ),
        (1, 2, 1, 1, 0)
    );
}

#[test]
fn a_fault_occurs_before_or_after_the_effect() {
    let f = fixture(|inner| {
        Faulty::new(inner, |call| match call {
            1 => Fault::Before,
            2 => Fault::After,
            _ => Fault::None,
        })
    });
    block_on(async {
        let stream = f.create("a").await;
        for records_after in [1, 2, 3] {
            let result = f
                .store
                .commit(&[inbox(stream, vec![event("x")]).into()])
                .await;
            assert_eq!(result.is_ok(), records_after == 3);
            assert_eq!(f.numbers(stream).await.len(), records_after);
        }
    });
}

#[test]
fn a_commit_whose_outcome_was_lost_is_answered_when_it_is_sent_again() {
    let f = fixture(|inner| {
        Faulty::new(inner, |call| match call {
            0 => Fault::After,
            _ => Fault::None,
        })
    });
    block_on(async {
        let mut commit = creation("a");
        let node = NODE;
        commit.id = Some(CommitId { node, number: 1 });
        f.store.commit(&[commit.clone().into()]).await.unwrap_err();
        assert!(f.head_of("a").await.is_some(), "it took effect");
        f.accept(commit).await;
    });
}

#[test]
fn commits_of_a_batch_take_effect_one_by_one_until_one_hangs() {
    for (fault, records_after) in [(Fault::HangBefore, 2), (Fault::HangAfter, 3)] {
        let hung = Arc::new(AtomicBool::new(false));
        let hangs = hung.clone();
        let f = fixture(|inner| {
            // Call 0 creates the stream.
            let faulty = Faulty::new(inner, move |call| match call {
                2 => fault,
                _ => Fault::None,
            });
            faulty
                .one_by_one()
                .on_hang(move || hangs.store(true, Ordering::SeqCst))
        });
        block_on(async {
            let stream = f.create("a").await;
            let batch = ["x", "y", "z"].map(|name| inbox(stream, vec![event(name)]).into());
            let committing = f.store.commit(&batch);
            let committing = std::pin::pin!(committing);
            let mut context = Context::from_waker(Waker::noop());
            assert!(committing.poll(&mut context).is_pending());
            assert!(hung.load(Ordering::SeqCst));
            assert_eq!(f.numbers(stream).await.len(), records_after);
        });
    }
}
