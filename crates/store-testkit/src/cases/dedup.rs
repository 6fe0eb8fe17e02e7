//! A sender's id counts once per stream, for as long as the stream exists.

use everstep_model::{RecordNumber, StreamNumber};
use everstep_store::{DeliverCommit, Guard, Outcome, Store};

use crate::fixture::Fixture;
use crate::sample::{event, inbox};

fn send(stream: StreamNumber, id: &str) -> DeliverCommit {
    let mut commit = inbox(stream, vec![event("x")]);
    commit.dedup = Some(id.to_owned());
    commit
}

fn is_duplicate_at(outcome: &Outcome, place: u64) -> bool {
    matches!(outcome, Outcome::Duplicate { first: RecordNumber(n), before, .. } if *n == place && before.is_empty())
}

/// The second use of an id gives the place of the first and changes nothing.
pub async fn a_repeated_id_returns_the_original_place<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.accept(send(stream, "id")).await;
    f.accept(inbox(stream, vec![event("y")])).await;
    let again = f.commit_one(send(stream, "id")).await;
    assert!(is_duplicate_at(&again, 1), "{again:?}");
    assert_eq!(f.numbers(stream).await, [0, 1, 2]);
}

/// The same within one batch.
pub async fn a_repeated_id_within_a_batch_is_known<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let outcomes = f.commit(vec![send(stream, "id"), send(stream, "id")]).await;
    assert!(is_duplicate_at(&outcomes[1], 1), "{outcomes:?}");
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

/// Ids of different streams do not meet, nor do ids that begin alike.
pub async fn ids_of_other_streams_and_longer_ids_are_others<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    f.accept(send(a, "id")).await;
    f.accept(send(b, "id")).await;
    for id in [
        "i",
        "id2",
        "",
        "id\u{0}",
        "ID",
        &"i".repeat(512),
        &"i".repeat(70_000),
    ] {
        f.accept(send(a, id)).await;
        assert!(is_duplicate_at(&f.commit_one(send(b, "id")).await, 1));
    }
}

/// A refused commit does not use up its id.
pub async fn a_refused_commit_does_not_use_its_id<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut refused = send(stream, "id");
    refused.guards.push(Guard::InboxSeen(99));
    f.refuse(refused).await;
    f.accept(send(stream, "id")).await;
}

/// A known id is a duplicate even after the stream was closed and whatever its guards say.
pub async fn a_known_id_outlives_the_close<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.accept(send(stream, "id")).await;
    let mut close = inbox(stream, vec![]);
    close.close = true;
    f.accept(close).await;
    let mut again = send(stream, "id");
    again.guards.push(Guard::InboxSeen(99));
    assert!(is_duplicate_at(&f.commit_one(again).await, 1));
}
