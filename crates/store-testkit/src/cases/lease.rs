//! The right to execute: granted to nodes that live by the store's clock, one holder at a time,
//! counted by epochs.

use std::time::Duration;

use everstep_model::{Epoch, Nonce, RunStatus, StreamNumber};
use everstep_store::{Claim, ExecutorLease, Fence, InboxLease, Outcome, Owner, Store};

use crate::fixture::Fixture;
use crate::sample::{
    NODE, NONCE, OTHER, event, executor, inbox, run_creation, step, with_progress,
};

const TTL: Duration = Duration::from_secs(60);

/// A free run is taken, under a higher epoch each time.
pub async fn a_free_run_is_claimed<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
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

/// A held run is not taken, and the rest of the commit still takes effect.
pub async fn a_failed_claim_leaves_the_rest_of_the_commit<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
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

/// Of two claims in one batch the first wins.
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

/// A lease lasts as long as it says by the store's clock, and not a moment longer.
pub async fn a_lease_runs_out<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.renew(NODE, TTL).await;
    f.try_take(stream, NODE, NONCE).await.unwrap();
    f.clock.advance(TTL - Duration::from_millis(1));
    assert_eq!(f.try_take(stream, OTHER, NONCE).await, None);
    f.clock.advance(Duration::from_millis(1));
    let taken = f.try_take(stream, OTHER, NONCE).await;
    assert_eq!(taken.map(|fence| fence.epoch), Some(Epoch(2)));
}

/// A renewed lease lasts from its renewal.
pub async fn a_renewed_lease_lasts<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    for _ in 0..5 {
        f.clock.advance(TTL / 2);
        f.renew(NODE, TTL).await;
    }
    assert_eq!(f.try_take(stream, OTHER, NONCE).await, None);
}

/// The runs of a node that says it is gone can be taken at once.
pub async fn a_retired_node_holds_nothing<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    f.store.retire(NODE).await.unwrap();
    f.store.retire(NODE).await.unwrap();
    assert!(f.try_take(stream, OTHER, NONCE).await.is_some());
}

/// A node that never showed that it lives counts as dead.
pub async fn a_node_without_a_lease_is_dead<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    assert!(f.try_take(stream, NODE, NONCE).await.is_some());
    assert!(f.try_take(stream, OTHER, NONCE).await.is_some());
}

/// A run given up is free, and its holder's epoch is not used again.
pub async fn a_released_run_is_free<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let mut release = executor(stream, fence, 1, 1, vec![]);
    release.lease = ExecutorLease::Release;
    f.accept(release).await;
    let head = f.head(stream).await;
    assert_eq!((head.epoch, head.owner), (Epoch(1), None));
    let next = f.take(stream, OTHER, NONCE).await;
    assert_eq!(next.epoch, Epoch(2));
}

async fn die_and_take<S: Store>(f: &Fixture<S>, stream: StreamNumber, nonce: u64) -> Fence {
    f.store.retire(NODE).await.unwrap();
    f.take(stream, NODE, Nonce(nonce)).await
}

/// A life that wrote something and resolved nothing, and the one that takes over.
async fn stall_and_take<S: Store>(
    f: &Fixture<S>,
    stream: StreamNumber,
    fence: Fence,
    nonce: u64,
) -> Fence {
    let seen = f.head(stream).await.next.0;
    f.accept(executor(stream, fence, 1, seen, vec![step("s")]))
        .await;
    die_and_take(f, stream, nonce).await
}

/// Takeovers from dead nodes are counted while nothing gets done.
pub async fn takeovers_without_progress_are_counted<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut fence = f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 0);
    for n in 1..=3 {
        fence = stall_and_take(f, stream, fence, n).await;
        assert_eq!(u64::from(f.head(stream).await.takeovers), n);
    }
}

/// A node that died before it wrote anything for the run says nothing about the run.
pub async fn a_takeover_from_a_node_that_did_nothing_is_not_counted<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    stall_and_take(f, stream, fence, 1).await;
    die_and_take(f, stream, 2).await;
    die_and_take(f, stream, 3).await;
    assert_eq!(f.head(stream).await.takeovers, 1);
}

/// A claim sent again, because its outcome was lost, gets the fence it had got.
pub async fn a_repeated_claim_gets_the_same_fence<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.renew(NODE, TTL).await;
    let fence = f.take(stream, NODE, NONCE).await;
    assert_eq!(f.try_take(stream, NODE, NONCE).await, Some(fence));
    assert_eq!(f.try_take(stream, NODE, Nonce(99)).await, None);
    assert_eq!(f.head(stream).await.epoch, fence.epoch);
}

/// Progress starts the count again.
pub async fn progress_resets_the_takeovers<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let fence = stall_and_take(f, stream, fence, 1).await;
    let fence = stall_and_take(f, stream, fence, 2).await;
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
    die_and_take(f, stream, 3).await;
    assert_eq!(f.head(stream).await.takeovers, 1);
}

/// A run given up in order has no takeovers.
pub async fn a_release_resets_the_takeovers<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.take(stream, NODE, NONCE).await;
    let fence = die_and_take(f, stream, 1).await;
    let mut release = executor(stream, fence, 1, 1, vec![]);
    release.lease = ExecutorLease::Release;
    f.accept(release).await;
    f.take(stream, NODE, NONCE).await;
    assert_eq!(f.head(stream).await.takeovers, 0);
}

/// A run whose executor was lost while its node lives is counted like one whose node died.
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

/// A run that is taken runs; one that is pausing, paused, cancelling or rolling back goes on with
/// that.
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
