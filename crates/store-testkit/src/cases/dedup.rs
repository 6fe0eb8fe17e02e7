//! A dedup id takes effect once per stream, as long as the stream exists.

use everstep_model::{Entry, RecordNumber, StreamNumber};
use everstep_store::{DeliverCommit, Guard, Outcome, Store};

use crate::fixture::Fixture;
use crate::sample::{event, inbox};

/// The number of the first event, and the records before it that the sender has not seen.
const ORIGINAL: (RecordNumber, Vec<Entry>) = (RecordNumber(1), Vec::new());

fn send(stream: StreamNumber, id: &str) -> DeliverCommit {
    let mut commit = inbox(stream, vec![event("x")]);
    commit.dedup = Some(id.to_owned());
    commit
}

pub async fn a_repeated_id_returns_the_original_number<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.accept(send(stream, "id")).await;
    f.accept(inbox(stream, vec![event("y")])).await;
    assert_eq!(f.repeat(send(stream, "id")).await, ORIGINAL);
    assert_eq!(f.numbers(stream).await, [0, 1, 2]);
}

pub async fn a_repeated_id_within_a_batch_is_a_duplicate<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let outcomes = f.commit(vec![send(stream, "id"), send(stream, "id")]).await;
    let Outcome::Duplicate { first, before, .. } = outcomes[1].clone() else {
        panic!("{outcomes:?}");
    };
    assert_eq!((first, before), ORIGINAL);
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

/// Also covers ids with a common prefix.
pub async fn ids_are_distinct_by_stream_and_by_all_characters<S: Store>(f: &Fixture<S>) {
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
        assert_eq!(f.repeat(send(b, "id")).await, ORIGINAL);
    }
}

pub async fn a_refused_commit_does_not_use_its_id<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut refused = send(stream, "id");
    refused.guards.push(Guard::InboxSeen(99));
    f.refuse(refused).await;
    f.accept(send(stream, "id")).await;
}

/// Neither the close nor failing guards matter.
pub async fn a_known_id_is_a_duplicate_after_the_close<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    f.accept(send(stream, "id")).await;
    let mut close = inbox(stream, vec![]);
    close.close = true;
    f.accept(close).await;
    let mut again = send(stream, "id");
    again.guards.push(Guard::InboxSeen(99));
    assert_eq!(f.repeat(again).await, ORIGINAL);
}
