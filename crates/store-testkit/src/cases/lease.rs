//! The right to execute: one holder at a time, with leases by the store's clock and epochs.

use std::time::Duration;

use everstep_model::{Epoch, Nonce, RunStatus, StreamNumber};
use everstep_store::{Claim, ExecutorLease, Fence, InboxLease, Outcome, Owner, Store};

use crate::fixture::Fixture;
use crate::sample::{
    NODE, NONCE, OTHER, event, executor, inbox, run_creation, step, with_progress,
};

const TTL: Duration = Duration::from_secs(60);

pub async fn a_free_run_is_claimed<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    assert_eq!(
        fence,
        Fence {
            epoch: Epoch(1),
            nonce: NONCE
        }
    );
    let head = f.head(stream).await;
    assert_eq!(
        head.owner,
        Some(Owner {
            node: NODE,
            nonce: NONCE
        })
    );
    assert_eq!(head.fence(), Some(fence));
}

pub async fn a_failed_claim_leaves_the_rest_of_the_commit<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.renew(OTHER, TTL).await;
    let mut claim = inbox(stream, vec![event("x")]);
    claim.lease = InboxLease::Claim(Claim {
        node: OTHER,
        nonce: Nonce(0x22),
    });
    let outcome = f.commit_one(claim).await;
    assert!(
        matches!(outcome, Outcome::Committed { taken: None, .. }),
        "{outcome:?}"
    );
    assert_eq!(f.numbers(stream).await, [0, 1]);
    assert_eq!(f.head(stream).await.fence(), Some(fence));
}

pub async fn of_two_claims_in_one_batch_the_first_wins<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.renew(NODE, TTL).await;
    f.renew(OTHER, TTL).await;
    let claim = |node, nonce| {
        let mut claim = inbox(stream, vec![]);
        claim.lease = InboxLease::Claim(Claim { node, nonce });
        claim
    };
    let outcomes = f
        .commit(vec![claim(NODE, NONCE), claim(OTHER, Nonce(0x22))])
        .await;
    assert!(matches!(
        outcomes[0],
        Outcome::Committed { taken: Some(_), .. }
    ));
    assert!(matches!(
        outcomes[1],
        Outcome::Committed { taken: None, .. }
    ));
}

/// The lease ends exactly when its time has passed by the store's clock.
pub async fn a_lease_expires<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.renew(NODE, TTL).await;
    f.try_take(stream, NODE, NONCE).await.unwrap();
    f.clock.advance(TTL - Duration::from_millis(1));
    assert_eq!(f.try_take(stream, OTHER, NONCE).await, None);
    f.clock.advance(Duration::from_millis(1));
    let taken = f.try_take(stream, OTHER, NONCE).await;
    assert_eq!(taken.map(|fence| fence.epoch), Some(Epoch(2)));
}

pub async fn a_renewed_lease_stays_alive<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    for _ in 0..5 {
        f.clock.advance(TTL / 2);
        f.renew(NODE, TTL).await;
    }
    assert_eq!(f.try_take(stream, OTHER, NONCE).await, None);
}

pub async fn a_retired_node_holds_nothing<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    f.store.retire(NODE).await.unwrap();
    f.store.retire(NODE).await.unwrap();
    assert!(f.try_take(stream, OTHER, NONCE).await.is_some());
}

pub async fn a_node_without_a_lease_is_dead<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    assert!(f.try_take(stream, NODE, NONCE).await.is_some());
    assert!(f.try_take(stream, OTHER, NONCE).await.is_some());
}

pub async fn a_released_run_is_free<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let mut release = executor(stream, fence, 1, 1, vec![]);
    release.lease = ExecutorLease::Release;
    f.accept(release).await;
    let head = f.head(stream).await;
    assert_eq!((head.epoch, head.owner), (Epoch(1), None));
    let next = f.take(stream, OTHER, NONCE).await;
    assert_eq!(next.epoch, Epoch(2));
}

/// Ends the lease of the node and claims the run again.
async fn take_over<S: Store>(f: &Fixture<S>, stream: StreamNumber, nonce: u64) -> Fence {
    f.store.retire(NODE).await.unwrap();
    f.take(stream, NODE, Nonce(nonce)).await
}

/// Commits a step without progress, then takes the run over.
async fn stall_and_take_over<S: Store>(
    f: &Fixture<S>,
    stream: StreamNumber,
    fence: Fence,
    nonce: u64,
) -> Fence {
    let seen = f.head(stream).await.next.0;
    f.accept(executor(stream, fence, 1, seen, vec![step("s")]))
        .await;
    take_over(f, stream, nonce).await
}

pub async fn takeovers_without_progress_are_counted<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut fence = f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 0);
    for n in 1..=3 {
        fence = stall_and_take_over(f, stream, fence, n).await;
        assert_eq!(u64::from(f.head(stream).await.takeovers), n);
    }
}

/// Another run may have ended a node that wrote nothing for this one.
pub async fn nodes_that_did_nothing_count_twice_at_most<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    for (nonce, expected) in [(1, 1), (2, 2), (3, 2), (4, 2)] {
        take_over(f, stream, nonce).await;
        assert_eq!(f.head(stream).await.takeovers, expected);
    }
    let (stream, fence) = f.create_claimed("b").await;
    let fence = stall_and_take_over(f, stream, fence, 1).await;
    stall_and_take_over(f, stream, fence, 2).await;
    take_over(f, stream, 3).await;
    assert_eq!(f.head(stream).await.takeovers, 2);
}

pub async fn a_node_that_appended_no_records_counts<S: Store>(f: &Fixture<S>) {
    let (stream, mut fence) = f.create_claimed("a").await;
    for nonce in 1..=4 {
        let seen = f.head(stream).await.next.0;
        f.accept(executor(stream, fence, 1, seen, vec![])).await;
        fence = take_over(f, stream, nonce).await;
        assert_eq!(u64::from(f.head(stream).await.takeovers), nonce);
    }
}

pub async fn a_repeated_claim_gets_the_same_fence<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.renew(NODE, TTL).await;
    let fence = f.take(stream, NODE, NONCE).await;
    assert_eq!(f.try_take(stream, NODE, NONCE).await, Some(fence));
    assert_eq!(f.try_take(stream, NODE, Nonce(99)).await, None);
    assert_eq!(f.head(stream).await.epoch, fence.epoch);
}

pub async fn progress_resets_the_takeovers<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let fence = stall_and_take_over(f, stream, fence, 1).await;
    let fence = stall_and_take_over(f, stream, fence, 2).await;
    assert_eq!(f.head(stream).await.takeovers, 2);
    let seen = f.head(stream).await.next.0;
    f.accept(with_progress(executor(
        stream,
        fence,
        1,
        seen,
        vec![step("s")],
    )))
    .await;
    f.accept(executor(stream, fence, 2, seen + 1, vec![])).await;
    take_over(f, stream, 3).await;
    assert_eq!(f.head(stream).await.takeovers, 1);
}

pub async fn a_release_resets_the_takeovers<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    let fence = take_over(f, stream, 1).await;
    let mut release = executor(stream, fence, 1, 1, vec![]);
    release.lease = ExecutorLease::Release;
    f.accept(release).await;
    f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 0);
}

/// The node of the lost executor is still alive.
pub async fn a_lost_executor_counts_as_a_takeover<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    for expected in [1, 2] {
        let fence = f.take(stream, NODE, NONCE).await;
        let seen = f.head(stream).await.next.0;
        f.accept(executor(stream, fence, 1, seen, vec![step("s")]))
            .await;
        let mut lost = executor(stream, fence, 2, seen + 1, vec![]);
        lost.lease = ExecutorLease::Abandon;
        f.accept(lost).await;
        let head = f.head(stream).await;
        assert_eq!((head.owner, head.takeovers), (None, expected));
    }
    let fence = f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 2);
    let mut release = executor(stream, fence, 1, 9, vec![]);
    release.lease = ExecutorLease::Release;
    f.accept(release).await;
    f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 0);
}

/// A run that is pausing, paused, cancelling or rolling back keeps its status.
pub async fn a_claimed_run_is_running_unless_it_is_stopping<S: Store>(f: &Fixture<S>) {
    for status in RunStatus::ALL {
        let id = format!("r-{}", status.code());
        let stream = f.create_with(run_creation(&id, "order", *status)).await;
        f.take(stream, NODE, NONCE).await;
        let expected = match status {
            RunStatus::Pausing
            | RunStatus::Paused
            | RunStatus::Cancelling
            | RunStatus::RollingBack => *status,
            _ => RunStatus::Running,
        };
        let run = f.head(stream).await.run.unwrap();
        assert_eq!(run.status, expected, "{status}");
    }
}
