//! Commits sent again because their outcome was lost: they take effect once, and are answered as
//! the first time.

use std::time::Duration;

use everstep_model::{RunStatus, StreamNumber};
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

/// The commit as number `number` of a node.
fn numbered(commit: impl Into<Commit>, number: u64) -> Commit {
    let node = NODE;
    let mut commit = commit.into();
    commit.set_id(CommitId { node, number });
    commit
}

fn by_other(commit: impl Into<Commit>, number: u64) -> Commit {
    let node = OTHER;
    let mut commit = commit.into();
    commit.set_id(CommitId { node, number });
    commit
}

/// Sends a batch, lets others go on, sends it again: the same answer, and nothing has changed.
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

/// A creation is one even if it is sent twice, and the claim that came with it stands.
pub async fn a_creation_sent_again_is_still_the_creation<S: Store>(f: &Fixture<S>) {
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

/// The firing of a timer, which removes the row that it requires.
pub async fn a_timer_that_fires_twice_has_one_effect<S: Store>(f: &Fixture<S>) {
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

/// An event, though others have sent one in between.
pub async fn an_event_sent_again_lands_once<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let event_of = |text| inbox(stream, vec![event(text)]);
    let between = by_other(event_of("other"), 7);
    sent_twice(f, vec![numbered(event_of("x"), 1)], Some(between)).await;
    assert_eq!(f.numbers(stream).await, [0, 1, 2]);
}

/// A batch of several, some of them refused: each has its own answer again.
pub async fn a_batch_sent_again_is_answered_one_by_one<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let fence = f.take(stream, NODE, NONCE).await;
    let open = RowKey::Rpc(stream, rpc(stream, "q").id);
    let mut refused = inbox(stream, vec![event("answer")]);
    refused.guards.push(Guard::RowPresent(open));
    let batch = vec![
        numbered(inbox(stream, vec![event("x")]), 4),
        numbered(refused, 5),
        numbered(executor(stream, fence, 1, 1, vec![step("s")]), 6),
        numbered(creation("b"), 7),
    ];
    // What was refused stays refused, though it would be accepted by now.
    let mut between = inbox(stream, vec![]);
    between.rows.put.push(Row::Rpc(rpc(stream, "q")));
    let outcomes = sent_twice(f, batch, Some(between.into())).await;
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowAbsent));
    let Outcome::Committed { before, .. } = &outcomes[2] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(before.len(), 1, "the event before it is told again");
}

/// Some of what was sent before, together with something new.
pub async fn the_rest_of_a_batch_may_be_sent_again_with_more<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let commit = |number| numbered(inbox(stream, vec![event("x")]), number);
    let first = f.commit(vec![commit(1), commit(2)]).await;
    let second = f.commit(vec![commit(2), commit(3)]).await;
    assert_eq!(second[0], first[1]);
    assert_eq!(f.commit(vec![commit(2), commit(3)]).await, second);
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3]);
}

/// A batch that arrives after its node went on, for instance held up on its way, has no effect.
pub async fn an_overtaken_commit_is_refused<S: Store>(f: &Fixture<S>) {
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

/// What came too late does not take the place of what can still be sent again.
pub async fn an_overtaken_commit_discards_no_outcome<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let commit = |number| numbered(inbox(stream, vec![event("x")]), number);
    let last = f.commit_one(commit(5)).await;
    f.refuse(commit(4)).await;
    assert_eq!(f.commit_one(commit(5)).await, last);
    assert_eq!(f.numbers(stream).await, [0, 1]);
}

/// Guards on shared rows are answered as the first time, and rows are put and deleted once.
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

/// A gate is opened once: a commit that is sent again does not open what was held since.
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

/// A commit that came too early stays refused under its id; a new id is judged anew.
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
