//! Acknowledged data survives closing and reopening the store, and heads are identical afterwards.

use std::sync::Arc;

use everstep_model::{Epoch, Nonce, RecordNumber, RunStatus, StreamNumber, Timestamp};
use everstep_store::{
    CommitTime, Gate, Guard, Head, InboxLease, ListQuery, Outcome, Refusal, Row, RowKey, RowRange,
    SharedKind, Store, StreamRef,
};

use crate::clock::TestClock;
use crate::fixture::{Fixture, Reopen};
use crate::sample::{
    self, NODE, NONCE, OTHER, closing, effect, event, executor, inbox, range, removal, rpc,
    run_creation, step, timer, wait_completed, with_progress,
};

/// Closes the store and opens it again.
fn reopen<R: Reopen>(f: Fixture<R::Store>, storage: &R) -> Fixture<R::Store> {
    let clock = f.clock.clone();
    drop(f);
    Fixture::open(storage, &clock)
}

async fn heads<S: Store>(f: &Fixture<S>) -> Vec<Head> {
    let mut heads = Vec::new();
    for number in 0..20 {
        let stream = StreamRef::Number(StreamNumber(number));
        heads.extend(f.store.head(stream).await.unwrap());
    }
    heads
}

pub async fn all_acknowledged_data_survives_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let mut commit = run_creation("a", "order", RunStatus::Running);
    commit.ready = true;
    commit.rows.put = vec![
        Row::Timer(timer(StreamNumber(0), 5, Some("s:0"))),
        Row::Rpc(rpc(StreamNumber(0), "r")),
    ];
    let stream = f.create_with(commit).await;
    let mut sent = inbox(stream, vec![event("x")]);
    sent.dedup = Some("id".to_owned());
    f.accept(sent).await;
    let mut batch = Vec::new();
    for n in 0..10 {
        batch.push(inbox(stream, vec![event(&format!("e{n}"))]));
    }
    f.commit(batch).await;
    let (entries, before) = (f.entries(stream).await, heads(&f).await);
    let f = reopen(f, storage);
    assert_eq!(f.entries(stream).await, entries);
    assert_eq!(heads(&f).await, before);
    assert_eq!(f.head_of("workflows/a").await.as_ref(), before.first());
    assert_eq!(
        f.timers(Timestamp::from_millis(u64::MAX)).await,
        [timer(stream, 5, Some("s:0"))]
    );
    assert_eq!(
        f.row(RowKey::Rpc(stream, rpc(stream, "r").id)).await,
        Some(Row::Rpc(rpc(stream, "r")))
    );
    assert_eq!(f.ready().await.len(), 1);
    let query = ListQuery {
        statuses: vec![RunStatus::Running],
        limit: 9,
        ..ListQuery::default()
    };
    assert_eq!(f.list(query).await.rows.len(), 1);
    let mut repeated = inbox(stream, vec![event("x")]);
    repeated.dedup = Some("id".to_owned());
    assert!(matches!(
        f.commit_one(repeated).await,
        Outcome::Duplicate { .. }
    ));
}

/// An executor can thereby resolve an unknown outcome after a restart.
pub async fn the_last_sequence_survives_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let (stream, fence) = f.create_claimed("a").await;
    let mut last = None;
    for seq in 1..=4 {
        let commit = executor(stream, fence, seq, seq, vec![step("s")]);
        f.accept(commit.clone()).await;
        last = Some(commit);
    }
    f.accept(inbox(stream, vec![event("x")])).await;
    let f = reopen(f, storage);
    let outcome = f.commit_one(last.unwrap()).await;
    assert!(
        matches!(outcome, Outcome::Duplicate { first, .. } if first.0 == 4),
        "{outcome:?}"
    );
    assert_eq!(
        f.refuse(executor(stream, fence, 6, 6, vec![step("s")]))
            .await,
        Refusal::OutOfOrder
    );
    f.accept(executor(stream, fence, 5, 5, vec![step("s")]))
        .await;
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3, 4, 5, 6]);
}

pub async fn a_last_commit_without_records_survives_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
    let empty = executor(stream, fence, 2, 2, vec![]);
    f.accept(empty.clone()).await;
    let f = reopen(f, storage);
    assert!(matches!(
        f.commit_one(empty).await,
        Outcome::Duplicate { .. }
    ));
    f.accept(executor(stream, fence, 3, 2, vec![step("t")]))
        .await;
}

pub async fn counts_survive_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(inbox(stream, vec![event("x"), event("y"), event("z")]))
        .await;
    f.accept(executor(stream, fence, 1, 4, vec![wait_completed(&[1])]))
        .await;
    let before = f.head(stream).await;
    assert_eq!(
        (before.frame.inbox_count, before.frame.unconsumed_events),
        (4, 2)
    );
    let f = reopen(f, storage);
    assert_eq!(f.head(stream).await, before);
    let mut suspend = executor(stream, fence, 2, 5, vec![]);
    suspend.guards.push(Guard::InboxSeen(4));
    f.accept(suspend).await;
}

pub async fn takeovers_and_progress_survive_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let stream = f.create("a").await;
    for nonce in 1..=3 {
        let fence = f.try_take(stream, NODE, Nonce(nonce)).await.unwrap();
        f.accept(executor(stream, fence, 1, nonce, vec![step("s")]))
            .await;
    }
    assert_eq!(f.head(stream).await.takeovers, 2);
    let f = reopen(f, storage);
    let fence = f.try_take(stream, NODE, Nonce(4)).await.unwrap();
    assert_eq!(f.head(stream).await.takeovers, 3);
    f.accept(executor(stream, fence, 1, 4, vec![])).await;
    let f = reopen(f, storage);
    let fence = f.try_take(stream, NODE, NONCE).await.unwrap();
    assert_eq!(
        f.head(stream).await.takeovers,
        4,
        "an append without records"
    );
    f.accept(with_progress(executor(
        stream,
        fence,
        1,
        4,
        vec![step("s")],
    )))
    .await;
    let f = reopen(f, storage);
    f.try_take(stream, OTHER, NONCE).await.unwrap();
    assert_eq!(f.head(stream).await.takeovers, 1, "the progress survives");
}

/// If only one process can open the store, leases end with the process. Fences do not.
pub async fn leases_of_an_exclusive_store_end_with_the_process<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let exclusive = f.store.describe().exclusive;
    let stream = f.create("a").await;
    let old = f.take(stream, NODE, NONCE).await;
    let f = reopen(f, storage);
    assert_eq!(f.head(stream).await.fence(), Some(old), "fences survive");
    let taken = f.try_take(stream, OTHER, Nonce(0x22)).await;
    assert_eq!(taken.is_some(), exclusive);
    if taken.is_some() {
        assert_eq!(
            f.refuse(executor(stream, old, 1, 1, vec![step("s")])).await,
            Refusal::Fenced
        );
    }
}

pub async fn a_revocation_survives_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let stream = f.create("a").await;
    let old = f.take(stream, NODE, NONCE).await;
    let mut revoke = inbox(stream, vec![event("stop")]);
    revoke.lease = InboxLease::Revoke;
    f.accept(revoke).await;
    let f = reopen(f, storage);
    assert_eq!(
        f.refuse(executor(stream, old, 1, 2, vec![step("s")])).await,
        Refusal::Fenced
    );
    assert_eq!(f.take(stream, NODE, NONCE).await.epoch, Epoch(3));
}

pub async fn stream_numbers_continue_after_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let mut f = Fixture::open(storage, &clock);
    let mut last = None;
    for n in 0..4 {
        let number = f.create(&format!("s{n}")).await;
        assert!(last < Some(number));
        last = Some(number);
        f = reopen(f, storage);
    }
    for n in 0..4 {
        assert!(f.head_of(&format!("s{n}")).await.is_some());
    }
}

/// Neither the number nor the term of a removed stream is used again.
pub async fn a_removal_survives_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    f.create("kept").await;
    let stream = f.create("a").await;
    let term = f.head(stream).await.term;
    f.accept(closing(stream)).await;
    f.accept(removal(&[stream])).await;
    let f = reopen(f, storage);
    assert_eq!(f.head_of("a").await, None);
    assert!(f.head_of("kept").await.is_some());
    let anew = f.create("a").await;
    assert!(anew > stream && f.head(anew).await.term > term);
}

/// Covers dropped records, closed streams and deleted rows.
pub async fn deleted_data_stays_deleted<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let stream = f.create("a").await;
    let mut commit = inbox(stream, vec![event("x"), event("y"), event("z")]);
    commit.rows.put.push(Row::Timer(timer(stream, 5, None)));
    f.accept(commit).await;
    let f = reopen(f, storage);
    let mut commit = inbox(stream, vec![]);
    commit.drop = vec![range(2, 9)];
    commit
        .rows
        .delete
        .push(RowKey::Timer(timer(stream, 5, None)));
    commit.close = true;
    f.accept(commit).await;
    let before = f.head(stream).await;
    let f = reopen(f, storage);
    assert_eq!(f.head(stream).await, before);
    assert_eq!(f.numbers(stream).await, [0, 1]);
    assert_eq!(f.refuse(inbox(stream, vec![])).await, Refusal::Closed);
    assert!(f.timers(Timestamp::from_millis(u64::MAX)).await.is_empty());
}

/// Only the status and records change. The head and the list have the new status.
pub async fn a_status_change_alone_survives_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Queued))
        .await;
    let mut commit = inbox(stream, vec![event("x")]);
    commit.status = Some(RunStatus::Waiting);
    f.accept(commit).await;
    let before = f.head(stream).await;
    let f = reopen(f, storage);
    assert_eq!(f.head(stream).await, before);
    let waiting = ListQuery {
        statuses: vec![RunStatus::Waiting],
        limit: 9,
        ..ListQuery::default()
    };
    let row = f.list(waiting).await.rows.pop();
    assert_eq!(row.map(|row| row.status), Some(RunStatus::Waiting));
}

pub async fn effects_survive_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let stream = f.create("a").await;
    let long = effect(stream, &"l".repeat(5_000));
    let (x, y) = (effect(stream, "x"), effect(stream, "y"));
    let mut close = inbox(stream, vec![]);
    close.rows.put = [&x, &y, &long].map(|row| Row::Outbox(row.clone())).into();
    close.close = true;
    f.accept(close).await;
    let mut clear = sample::row_change(stream);
    clear.rows.delete.push(RowKey::Outbox(stream, y.key));
    f.accept(clear).await;
    drop(f);
    let f = Fixture::open(storage, &clock);
    assert_eq!(f.outbox().await, [long, x]);
    assert!(f.head(stream).await.closed);
}

pub async fn user_streams_survive_reopening<R: Reopen>(storage: &R, clock: Arc<TestClock>) {
    let f = Fixture::open(storage, &clock);
    let mut creation = sample::creation("streams/fork");
    creation.begins_at = RecordNumber(40);
    creation.records.clear();
    let row = sample::stream_row(StreamNumber(0));
    creation.rows.put.push(Row::Stream(Box::new(row)));
    let stream = f.create_with(creation).await;
    let producer = Row::Producer(sample::producer(stream, "p", 40));
    let mut append = sample::inbox(stream, vec![sample::data("a", true)]);
    append.rows.put.push(producer.clone());
    let mut empty = sample::creation("streams/empty");
    empty.begins_at = RecordNumber(7);
    empty.records.clear();
    let empty = f.create_with(empty).await;
    f.accept(append).await;
    let f = reopen(f, storage);
    assert_eq!(f.numbers(stream).await, [40]);
    assert_eq!(f.head(stream).await.next, RecordNumber(41));
    assert_eq!(f.head(empty).await.next, RecordNumber(7));
    let row = Row::Stream(Box::new(sample::stream_row(stream)));
    assert_eq!(f.row(row.key()).await, Some(row));
    assert_eq!(f.row(producer.key()).await, Some(producer));
}

pub async fn shared_rows_and_gates_survive_reopening<R: Reopen>(
    storage: &R,
    clock: Arc<TestClock>,
) {
    let f = Fixture::open(storage, &clock);
    let mut commit = run_creation("a", "order", RunStatus::Queued);
    commit.gate = Gate::Held;
    let kept = sample::shared(SharedKind::Slot, &["l".into(), 1.into()], "kept");
    let gone = sample::shared(SharedKind::Slot, &["l".into(), 2.into()], "gone");
    let mut rate = sample::shared(SharedKind::Rate, &["l".into()], "rate");
    rate.committed_at = CommitTime::FillIn;
    commit.rows.put = [&kept, &gone, &rate]
        .map(|row| Row::Shared(row.clone()))
        .into();
    let held = f.create_with(commit).await;
    rate.fill_in(f.now());
    let mut commit = run_creation("b", "order", RunStatus::Queued);
    commit.gate = Gate::NeedsSlot;
    commit.rows.delete_exact = vec![
        gone,
        sample::shared(SharedKind::Slot, &["l".into(), 1.into()], "other"),
    ];
    let needs = f.create_with(commit).await;
    let before = heads(&f).await;
    let f = reopen(f, storage);
    assert_eq!(heads(&f).await, before);
    assert_eq!(f.head(held).await.gate, Gate::Held);
    assert_eq!(f.head(needs).await.gate, Gate::NeedsSlot);
    let all = |kind| RowRange {
        kind,
        prefix: Vec::new(),
        after: None,
        limit: 9,
        reverse: false,
    };
    assert_eq!(f.rows(all(SharedKind::Slot)).await, [kept]);
    assert_eq!(f.rows(all(SharedKind::Rate)).await, [rate]);
}
