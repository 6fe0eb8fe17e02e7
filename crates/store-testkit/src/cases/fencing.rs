//! One writer per run: an executor's commit applies only with the current fence, once, and in
//! order.

use everstep_model::{Epoch, ExecutorSeq, Nonce, RecordNumber};
use everstep_store::{ExecutorLease, Fence, Guard, InboxLease, Outcome, Refusal, Store};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, OTHER, event, executor, inbox, step};

pub async fn a_run_without_a_holder_refuses_every_fence<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    for epoch in [0, 1] {
        let fence = Fence {
            epoch: Epoch(epoch),
            nonce: Nonce(0),
        };
        let commit = executor(stream, fence, 1, 1, vec![step("s")]);
        assert_eq!(f.refuse(commit).await, Refusal::Fenced);
    }
}

pub async fn stale_epoch_is_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let old = f.take(stream, NODE, NONCE).await;
    f.store.retire(NODE).await.unwrap();
    let new = f.take(stream, OTHER, Nonce(0x22)).await;
    assert_eq!(
        f.refuse(executor(stream, old, 1, 1, vec![step("s")])).await,
        Refusal::Fenced
    );
    f.accept(executor(stream, new, 1, 1, vec![step("s")])).await;
}

pub async fn wrong_nonce_is_refused<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let wrong = Fence {
        nonce: Nonce(0x99),
        ..fence
    };
    let commit = executor(stream, wrong, 1, 1, vec![step("s")]);
    assert_eq!(f.refuse(commit).await, Refusal::Fenced);
}

/// A fence is compared with the head alone. A holder with an expired lease may write until another
/// node takes over.
pub async fn an_expired_holder_writes_until_it_is_replaced<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.clock.advance(std::time::Duration::from_secs(3_600));
    f.accept(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
}

pub async fn a_gap_in_the_sequence_is_refused<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    for seq in [0, 2, 7] {
        let commit = executor(stream, fence, seq, 1, vec![step("s")]);
        assert_eq!(f.refuse(commit).await, Refusal::OutOfOrder, "{seq}");
    }
    let first = executor(stream, fence, 1, 1, vec![step("s")]);
    f.accept(first.clone()).await;
    f.accept(executor(stream, fence, 2, 2, vec![step("t")]))
        .await;
    assert_eq!(f.refuse(first).await, Refusal::OutOfOrder);
}

pub async fn a_repeated_sequence_returns_the_original_number<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(inbox(stream, vec![event("x")])).await;
    let commit = executor(stream, fence, 1, 1, vec![step("s"), step("t")]);
    f.accept(commit.clone()).await;
    f.accept(inbox(stream, vec![event("y")])).await;
    let (first, before) = f.repeat(commit).await;
    assert_eq!(first, RecordNumber(2));
    assert_eq!(before.len(), 1, "the records before the original");
    assert_eq!(before[0].record, event("x"));
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3, 4]);
}

pub async fn a_repetition_within_a_batch_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let commit = executor(stream, fence, 1, 1, vec![step("s")]);
    let outcomes = f.commit(vec![commit.clone(), commit]).await;
    assert!(
        matches!(
            outcomes[1],
            Outcome::Duplicate {
                first: RecordNumber(1),
                ..
            }
        ),
        "{outcomes:?}"
    );
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

pub async fn a_repeated_release_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let mut release = executor(stream, fence, 1, 1, vec![step("s")]);
    release.lease = ExecutorLease::Release;
    f.accept(release.clone()).await;
    assert_eq!(f.repeat(release).await.0, RecordNumber(1));
    assert_eq!(f.head(stream).await.owner, None);
}

pub async fn a_repeated_close_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let mut close = executor(stream, fence, 1, 1, vec![step("s")]);
    close.lease = ExecutorLease::Release;
    close.close = true;
    f.accept(close.clone()).await;
    assert_eq!(f.repeat(close).await.0, RecordNumber(1));
}

pub async fn a_repeated_commit_without_records_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let empty = executor(stream, fence, 1, 1, vec![]);
    f.accept(empty.clone()).await;
    assert_eq!(f.repeat(empty).await.0, RecordNumber(1));
    f.accept(executor(stream, fence, 2, 1, vec![step("s")]))
        .await;
}

pub async fn a_refused_executor_commit_refuses_its_successors<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let mut guarded = executor(stream, fence, 1, 1, vec![step("s")]);
    guarded.guards.push(Guard::InboxSeen(0));
    let batch = vec![guarded, executor(stream, fence, 2, 2, vec![step("t")])];
    let outcomes = f.commit(batch).await;
    assert!(matches!(
        outcomes[0],
        Outcome::Refused(Refusal::InboxGrew { .. })
    ));
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::OutOfOrder));
    assert_eq!(f.numbers(stream).await, [0]);
}

/// Not even a repetition is answered.
pub async fn a_revoked_executor_is_refused<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let done = executor(stream, fence, 1, 1, vec![step("s")]);
    f.accept(done.clone()).await;
    let mut revoke = inbox(stream, vec![event("stop")]);
    revoke.lease = InboxLease::Revoke;
    f.accept(revoke).await;
    let next = executor(stream, fence, 2, 3, vec![step("t")]);
    assert_eq!(f.refuse(next).await, Refusal::Fenced);
    assert_eq!(f.refuse(done).await, Refusal::Fenced);
    let head = f.head(stream).await;
    assert_eq!((head.epoch, head.owner), (Epoch(2), None));
}

pub async fn a_new_epoch_restarts_the_sequence<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let first = f.take(stream, NODE, NONCE).await;
    for seq in 1..=3 {
        f.accept(executor(stream, first, seq, seq, vec![step("s")]))
            .await;
    }
    f.store.retire(NODE).await.unwrap();
    let second = f.take(stream, OTHER, NONCE).await;
    let late = executor(stream, second, 4, 4, vec![step("s")]);
    assert_eq!(f.refuse(late).await, Refusal::OutOfOrder);
    f.accept(executor(stream, second, 1, 4, vec![step("s")]))
        .await;
    let head = f.head(stream).await;
    assert_eq!(
        (head.frame.epoch, head.frame.seq),
        (second.epoch, ExecutorSeq(1))
    );
    assert_eq!(head.frame.executor_at, RecordNumber(4));
}
