//! Commits that are sent again because their outcome was lost: they take effect once, and have the
//! same outcome.

use std::time::Duration;

use everstep_model::{NodeId, RunStatus, StreamNumber};
use everstep_store::{
    Claim, Commit, CommitId, CommitTime, Gate, GateChange, Guard, InboxLease, KeyPart, Outcome,
    Refusal, Row, RowKey, SharedKind, SharedRow, Store,
};

use crate::clock::START;
use crate::fixture::Fixture;
use crate::sample::{
    NODE, NONCE, OTHER, creation, event, executor, inbox, row_change, rpc, run_creation, shared,
    step, timer,
};

fn with_id(commit: impl Into<Commit>, node: NodeId, number: u64) -> Commit {
    let mut commit = commit.into();
    commit.set_id(CommitId { node, number });
    commit
}

fn numbered(commit: impl Into<Commit>, number: u64) -> Commit {
    with_id(commit, NODE, number)
}

fn by_other(commit: impl Into<Commit>, number: u64) -> Commit {
    with_id(commit, OTHER, number)
}

/// Sends a batch, then `between`, then the batch again. Asserts that the outcomes are the same and
/// that nothing changes.
async fn sent_twice<S: Store>(
    f: &Fixture<S>,
    batch: Vec<Commit>,
    between: Option<Commit>,
) -> Vec<Outcome> {
    let first = f.commit(batch.clone()).await;
    if let Some(between) = between {
        f.accept(between).await;
    }
    let before = every_head(f).await;
    assert_eq!(f.commit(batch).await, first);
    assert_eq!(every_head(f).await, before);
    first
}

async fn every_head<S: Store>(f: &Fixture<S>) -> Vec<everstep_store::Head> {
    let mut heads = Vec::new();
    for name in ["a", "b", "c"] {
        heads.extend(f.head_of(name).await);
    }
    heads
}

/// The claim of the creation stays valid.
pub async fn a_creation_sent_again_has_the_same_outcome<S: Store>(f: &Fixture<S>) {
    let mut commit = creation("a");
    commit.claim = Some(Claim {
        node: NODE,
        nonce: NONCE,
    });
    let outcomes = sent_twice(f, vec![numbered(commit, 1)], None).await;
    let Outcome::Committed { stream, taken, .. } = outcomes[0] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(taken, f.head(stream).await.fence());
    assert_eq!(f.numbers(stream).await, [0]);
}

/// The commit deletes the row that it requires, so it would be refused without its id.
pub async fn a_timer_sent_again_fires_once<S: Store>(f: &Fixture<S>) {
    let mut commit = creation("a");
    commit
        .rows
        .put
        .push(Row::Timer(timer(StreamNumber(0), 5, Some("s:0"))));
    let stream = f.create_with(commit).await;
    let key = RowKey::Timer(timer(stream, 5, Some("s:0")));
    let mut firing = inbox(stream, vec![event("fired")]);
    firing.guards.push(Guard::RowPresent(key.clone()));
    firing.rows.delete.push(key);
    firing.lease = InboxLease::Claim(Claim {
        node: NODE,
        nonce: NONCE,
    });
    let outcomes = sent_twice(f, vec![numbered(firing, 1)], None).await;
    assert!(
        matches!(outcomes[0], Outcome::Committed { taken: Some(_), .. }),
        "{outcomes:?}"
    );
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

/// Another node sends an event in between.
pub async fn an_event_sent_again_is_appended_once<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let event_of = |text| inbox(stream, vec![event(text)]);
    let between = by_other(event_of("other"), 7);
    sent_twice(f, vec![numbered(event_of("x"), 1)], Some(between)).await;
    assert_eq!(f.numbers(stream).await, [0, 1, 2]);
}

/// Some commits of the batch are refused.
pub async fn a_batch_sent_again_has_the_same_outcomes<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let open = RowKey::Rpc(stream, rpc(stream, "q").id);
    let mut refused = inbox(stream, vec![event("answer")]);
    refused.guards.push(Guard::RowPresent(open));
    let batch = vec![
        numbered(inbox(stream, vec![event("x")]), 4),
        numbered(refused, 5),
        numbered(executor(stream, fence, 1, 1, vec![step("s")]), 6),
        numbered(creation("b"), 7),
    ];
    // The refused commit stays refused, although it would be accepted now.
    let mut between = inbox(stream, vec![]);
    between.rows.put.push(Row::Rpc(rpc(stream, "q")));
    let outcomes = sent_twice(f, batch, Some(between.into())).await;
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowAbsent));
    let Outcome::Committed { before, .. } = &outcomes[2] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(before.len(), 1, "the event before it is reported again");
}

pub async fn the_rest_of_a_batch_may_be_sent_again_with_more<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let commit = |number| numbered(inbox(stream, vec![event("x")]), number);
    let first = f.commit(vec![commit(1), commit(2)]).await;
    let second = f.commit(vec![commit(2), commit(3)]).await;
    assert_eq!(second[0], first[1]);
    assert_eq!(f.commit(vec![commit(2), commit(3)]).await, second);
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3]);
}

/// A batch that arrives after a later batch of the same node has no effect.
pub async fn a_late_commit_is_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let commit = |number| numbered(inbox(stream, vec![event("x")]), number);
    f.accept(commit(1)).await;
    f.accept(commit(5)).await;
    for number in [1, 2, 4] {
        assert_eq!(f.refuse(commit(number)).await, Refusal::OutOfOrder);
    }
    f.accept(by_other(inbox(stream, vec![event("x")]), 1)).await;
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3]);
}

pub async fn a_late_commit_discards_no_outcome<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let commit = |number| numbered(inbox(stream, vec![event("x")]), number);
    let last = f.commit_one(commit(5)).await;
    f.refuse(commit(4)).await;
    assert_eq!(f.commit_one(commit(5)).await, last);
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

pub async fn shared_rows_sent_again_change_once<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let slot = |value: &str| shared(SharedKind::Slot, &[KeyPart::from("s")], value);
    let key = RowKey::Shared(slot("").key);
    let mut take = inbox(stream, vec![event("x")]);
    take.guards.push(Guard::RowAbsent(key.clone()));
    take.rows.put.push(Row::Shared(slot("mine")));
    let mut refused = row_change(stream);
    refused.guards.push(Guard::RowAbsent(key.clone()));
    refused.rows.put.push(Row::Shared(slot("other")));
    let mut stamped = row_change(stream);
    stamped.rows.put.push(Row::Shared(SharedRow {
        committed_at: CommitTime::FillIn,
        ..shared(SharedKind::Rate, &[KeyPart::from("r")], "rate")
    }));
    let mut free = row_change(stream);
    free.rows.delete_exact.push(slot("mine"));
    let batch = vec![
        numbered(take, 1),
        numbered(refused, 2),
        numbered(stamped, 3),
        numbered(free, 4),
    ];
    // Another node takes the slot that the batch has freed.
    let mut between = row_change(stream);
    between.rows.put.push(Row::Shared(slot("mine")));
    let outcomes = sent_twice(f, batch.clone(), Some(between.into())).await;
    let held = Refusal::RowPresent(Box::new(Row::Shared(slot("mine"))));
    assert_eq!(outcomes[1], Outcome::Refused(held));
    assert_eq!(f.row(key.clone()).await, Some(Row::Shared(slot("mine"))));
    f.clock.advance(Duration::from_secs(1));
    assert_eq!(f.commit(batch).await, outcomes);
    let rate = shared(SharedKind::Rate, &[KeyPart::from("r")], "rate");
    let Some(Row::Shared(rate)) = f.row(RowKey::Shared(rate.key)).await else {
        panic!("no rate");
    };
    assert_eq!(rate.committed_at, CommitTime::At(START));
}

/// The gate was closed in between, and stays closed.
pub async fn a_gate_sent_again_is_opened_once<S: Store>(f: &Fixture<S>) {
    let mut held = run_creation("a", "order", RunStatus::Queued);
    held.gate = Gate::Held;
    let stream = f.create_with(held).await;
    let mut open = inbox(stream, vec![event("x")]);
    open.gate = GateChange::Set(Gate::Open);
    open.ready = Some(true);
    let mut close = inbox(stream, vec![]);
    close.gate = GateChange::Set(Gate::Held);
    sent_twice(f, vec![numbered(open, 1)], Some(close.into())).await;
    let head = f.head(stream).await;
    assert_eq!((head.gate, head.ready), (Gate::Held, true));
}

/// The same commit with a new id is judged again.
pub async fn a_commit_that_was_too_early_stays_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let due = f.now().after(Duration::from_secs(1));
    let commit = |number| {
        let mut commit = inbox(stream, vec![event("x")]);
        commit.guards.push(Guard::NotBefore(due));
        numbered(commit, number)
    };
    let early = Refusal::TooEarly(f.now());
    assert_eq!(f.refuse(commit(1)).await, early);
    f.clock.advance(Duration::from_secs(1));
    assert_eq!(f.refuse(commit(1)).await, early);
    f.accept(commit(2)).await;
    assert_eq!(f.numbers(stream).await, [0, 1]);
}
