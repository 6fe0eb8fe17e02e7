//! One writer per run: an executor's commit lands only under the right in force, once, and in
//! order.

use everstep_model::{Epoch, ExecutorSeq, Nonce, RecordNumber};
use everstep_store::{ExecutorLease, Fence, Guard, InboxLease, Outcome, Refusal, Store};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, OTHER, event, executor, inbox, step};

/// Nobody executes a run that nobody holds.
pub async fn without_a_holder_no_fence_matches<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    for epoch in [0, 1] {
        let fence = Fence {
            epoch: Epoch(epoch),
            nonce: Nonce(0),
        };
        let refusal = f
            .refuse(executor(stream, fence, 1, 1, vec![step("s")]))
            .await;
        assert_eq!(refusal, Refusal::Fenced);
    }
}

/// An older epoch is refused.
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

/// The right epoch with another mark is refused.
pub async fn wrong_nonce_is_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let wrong = Fence {
        nonce: Nonce(0x99),
        ..fence
    };
    assert_eq!(
        f.refuse(executor(stream, wrong, 1, 1, vec![step("s")]))
            .await,
        Refusal::Fenced
    );
}

/// A fence is judged by the head alone: a holder whose lease ran out may write until somebody takes
/// over.
pub async fn an_expired_holder_writes_until_it_is_replaced<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    f.clock.advance(std::time::Duration::from_secs(3_600));
    f.accept(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
}

/// Sequences follow each other from 1.
pub async fn a_gap_in_the_sequence_is_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    for seq in [0, 2, 7] {
        let commit = executor(stream, fence, seq, 1, vec![step("s")]);
        assert_eq!(f.refuse(commit).await, Refusal::OutOfOrder, "{seq}");
    }
    f.accept(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
    f.accept(executor(stream, fence, 2, 2, vec![step("t")]))
        .await;
    assert_eq!(
        f.refuse(executor(stream, fence, 1, 1, vec![step("s")]))
            .await,
        Refusal::OutOfOrder
    );
}

/// The last sequence repeated gives its original place and changes nothing.
pub async fn a_repeated_sequence_returns_the_original_place<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    f.accept(inbox(stream, vec![event("x")])).await;
    let commit = executor(stream, fence, 1, 1, vec![step("s"), step("t")]);
    f.accept(commit.clone()).await;
    f.accept(inbox(stream, vec![event("y")])).await;
    let outcome = f.commit_one(commit).await;
    let Outcome::Duplicate { first, before, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(first, RecordNumber(2));
    assert_eq!(before.len(), 1, "what landed before the original");
    assert_eq!(before[0].record, event("x"));
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3, 4]);
}

/// The same within one batch.
pub async fn a_repetition_within_a_batch_is_known<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
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

/// The commit that gave the run up is known when it is repeated.
pub async fn a_repeated_release_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let mut release = executor(stream, fence, 1, 1, vec![step("s")]);
    release.lease = ExecutorLease::Release;
    f.accept(release.clone()).await;
    let outcome = f.commit_one(release).await;
    assert!(
        matches!(
            outcome,
            Outcome::Duplicate {
                first: RecordNumber(1),
                ..
            }
        ),
        "{outcome:?}"
    );
    assert_eq!(f.head(stream).await.owner, None);
}

/// A repeated commit that closed the stream is a duplicate, not a refusal.
pub async fn a_repeated_close_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let mut close = executor(stream, fence, 1, 1, vec![step("s")]);
    close.lease = ExecutorLease::Release;
    close.close = true;
    f.accept(close.clone()).await;
    let outcome = f.commit_one(close).await;
    assert!(
        matches!(
            outcome,
            Outcome::Duplicate {
                first: RecordNumber(1),
                ..
            }
        ),
        "{outcome:?}"
    );
}

/// A repeated commit without records is a duplicate too.
pub async fn a_repeated_commit_without_records_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let empty = executor(stream, fence, 1, 1, vec![]);
    f.accept(empty.clone()).await;
    let outcome = f.commit_one(empty).await;
    assert!(
        matches!(
            outcome,
            Outcome::Duplicate {
                first: RecordNumber(1),
                ..
            }
        ),
        "{outcome:?}"
    );
    f.accept(executor(stream, fence, 2, 1, vec![step("s")]))
        .await;
}

/// A refused executor commit refuses those behind it.
pub async fn a_refused_executor_commit_refuses_its_successors<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
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

/// After a revocation nothing of the former holder lands, not even as a repetition.
pub async fn nothing_lands_after_a_revocation<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let done = executor(stream, fence, 1, 1, vec![step("s")]);
    f.accept(done.clone()).await;
    let mut revoke = inbox(stream, vec![event("stop")]);
    revoke.lease = InboxLease::Revoke;
    f.accept(revoke).await;
    assert_eq!(
        f.refuse(executor(stream, fence, 2, 3, vec![step("t")]))
            .await,
        Refusal::Fenced
    );
    assert_eq!(f.refuse(done).await, Refusal::Fenced);
    let head = f.head(stream).await;
    assert_eq!((head.epoch, head.owner), (Epoch(2), None));
}

/// Each epoch counts its commits from 1.
pub async fn a_new_epoch_restarts_the_sequence<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let first = f.take(stream, NODE, NONCE).await;
    for seq in 1..=3 {
        f.accept(executor(stream, first, seq, seq, vec![step("s")]))
            .await;
    }
    f.store.retire(NODE).await.unwrap();
    let second = f.take(stream, OTHER, NONCE).await;
    assert_eq!(
        f.refuse(executor(stream, second, 4, 4, vec![step("s")]))
            .await,
        Refusal::OutOfOrder
    );
    f.accept(executor(stream, second, 1, 4, vec![step("s")]))
        .await;
    let head = f.head(stream).await;
    assert_eq!(
        (head.frame.epoch, head.frame.seq),
        (second.epoch, ExecutorSeq(1))
    );
    assert_eq!(head.frame.executor_at, RecordNumber(4));
}
