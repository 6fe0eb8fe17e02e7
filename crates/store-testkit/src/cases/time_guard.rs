//! The guard `NotBefore` compares a time with the store's own clock.

use std::time::Duration;

use everstep_model::Timestamp;
use everstep_store::{Guard, Refusal, Store};

use crate::fixture::Fixture;
use crate::sample::{
    NODE, NONCE, closing, creation, event, executor, inbox, removal, row_change, step, timer,
};

/// The refusal reports the time of the store's clock.
pub async fn a_commit_is_refused_before_its_time<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let due = f.now().after(Duration::from_millis(2_000));
    let mut commit = inbox(stream, vec![event("x")]);
    commit.guards.push(Guard::NotBefore(due));
    // The engine's clock does not matter.
    commit.now = Timestamp::from_millis(u64::MAX / 4);
    assert_eq!(f.refuse(commit.clone()).await, Refusal::TooEarly(f.now()));
    f.clock.advance(Duration::from_millis(1_999));
    assert_eq!(f.refuse(commit.clone()).await, Refusal::TooEarly(f.now()));
    assert_eq!(f.numbers(stream).await, [0]);
    f.clock.advance(Duration::from_millis(1));
    f.accept(commit).await;
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

pub async fn every_kind_of_commit_waits_for_its_time<S: Store>(f: &Fixture<S>) {
    let (open, closed) = (f.create("open").await, f.create("closed").await);
    let fence = f.take(open, NODE, NONCE).await;
    f.accept(closing(closed)).await;
    let guards = vec![Guard::NotBefore(f.now().after(Duration::from_secs(1)))];
    let mut create = creation("new");
    create.guards.clone_from(&guards);
    let mut append = executor(open, fence, 1, 1, vec![step("s")]);
    append.guards.clone_from(&guards);
    let mut change = row_change(open);
    change.guards.clone_from(&guards);
    change
        .rows
        .put
        .push(everstep_store::Row::Timer(timer(open, 1, None)));
    let mut remove = removal(&[closed]);
    remove.guards = guards;
    let batch = crate::batch![create, append, change, remove];
    let early = everstep_store::Outcome::Refused(Refusal::TooEarly(f.now()));
    let outcomes = f.commit(batch.clone()).await;
    assert_eq!(outcomes, vec![early; 4]);
    f.clock.advance(Duration::from_secs(1));
    for commit in batch {
        f.accept(commit).await;
    }
}
