//! A name has at most one stream, and streams are numbered in the order of creation.

use everstep_model::{Epoch, RunStatus};
use everstep_store::{Claim, Fence, Guard, Outcome, Refusal, Row, Store};

use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, creation, event, idempotency, inbox, run_creation, timer};

pub async fn stream_numbers_follow_the_order_of_creation<S: Store>(f: &Fixture<S>) {
    let one = f.create("z").await;
    let outcomes = f.commit(vec![creation("y"), creation("x")]).await;
    let numbers: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Committed { stream, .. } => *stream,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        one < numbers[0] && numbers[0] < numbers[1],
        "{one} {numbers:?}"
    );
}

/// The first creation stays as it is.
pub async fn an_existing_name_is_refused_with_its_number<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut again = creation("a");
    again.records.push(event("other"));
    assert_eq!(f.refuse(again).await, Refusal::Exists(stream));
    assert_eq!(f.numbers(stream).await, [0]);
}

pub async fn of_two_creations_in_one_batch_the_first_wins<S: Store>(f: &Fixture<S>) {
    let outcomes = f.commit(vec![creation("a"), creation("a")]).await;
    let Outcome::Committed { stream, .. } = outcomes[0] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::Exists(stream)));
}

/// A name may contain any character.
pub async fn a_stream_is_found_by_name_and_number<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a/b c\u{0}ä").await;
    let head = f.head(stream).await;
    assert_eq!(f.head_of("a/b c\u{0}ä").await, Some(head));
    assert_eq!(f.head_of("a/b").await, None);
    assert_eq!(f.head_of("").await, None);
}

pub async fn a_refused_creation_leaves_no_stream<S: Store>(f: &Fixture<S>) {
    let mut refused = creation("a");
    refused.guards.push(Guard::InboxSeen(99));
    f.refuse(refused).await;
    assert_eq!(f.head_of("a").await, None);
    let stream = f.create("a").await;
    assert_eq!(f.numbers(stream).await, [0]);
}

pub async fn a_creation_can_claim_the_run<S: Store>(f: &Fixture<S>) {
    let mut commit = run_creation("a", "order", RunStatus::Running);
    commit.claim = Some(Claim {
        node: NODE,
        nonce: NONCE,
    });
    let outcome = f.commit_one(commit).await;
    let Outcome::Committed { taken, stream, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        taken,
        Some(Fence {
            epoch: Epoch(1),
            nonce: NONCE
        })
    );
    assert_eq!(f.head(stream).await.fence(), taken);
    assert_eq!(f.head(stream).await.takeovers, 0);
}

pub async fn rows_of_a_creation_belong_to_the_new_stream<S: Store>(f: &Fixture<S>) {
    f.create("other").await;
    let mut commit = creation("a");
    commit
        .rows
        .put
        .push(Row::Timer(timer(Default::default(), 5, None)));
    let stream = f.create_with(commit).await;
    assert_eq!(
        f.timers(timer(stream, 5, None).due).await,
        [timer(stream, 5, None)]
    );
}

/// The refusal contains the row. This also holds within one batch.
pub async fn a_used_key_refuses_a_second_creation<S: Store>(f: &Fixture<S>) {
    let row = idempotency("order", "key", "a");
    let keyed = |name: &str| {
        let mut commit = creation(name);
        commit.guards.push(Guard::RowAbsent(row.key()));
        commit.rows.put.push(row.clone());
        commit
    };
    let outcomes = f.commit(vec![keyed("a"), keyed("b")]).await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    let present = Refusal::RowPresent(Box::new(row.clone()));
    assert_eq!(outcomes[1], Outcome::Refused(present.clone()));
    assert_eq!(f.refuse(keyed("c")).await, present);
    assert_eq!(f.head_of("b").await, None);
}

pub async fn an_empty_stream_exists<S: Store>(f: &Fixture<S>) {
    let mut commit = creation("a");
    commit.records.clear();
    let stream = f.create_with(commit).await;
    assert!(f.entries(stream).await.is_empty());
    f.accept(inbox(stream, vec![event("x")])).await;
    assert_eq!(f.numbers(stream).await, [0]);
}
