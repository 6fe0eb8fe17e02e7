//! The outbox: undelivered effects, and their deletion, also after the end of their run.

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{
    Claim, DeliverCommit, InboxLease, OutboxRow, Outcome, Refusal, Row, RowKey, RowsCommit, Store,
};

use crate::batch;
use crate::fixture::Fixture;
use crate::sample::{NODE, NONCE, creation, effect, event, inbox, row_change, rpc, run_creation};

fn put<'a>(stream: StreamNumber, rows: impl IntoIterator<Item = &'a OutboxRow>) -> DeliverCommit {
    let mut commit = inbox(stream, vec![]);
    commit.rows.put = rows.into_iter().cloned().map(Row::Outbox).collect();
    commit
}

fn key(row: &OutboxRow) -> RowKey {
    RowKey::Outbox(row.stream, row.key.clone())
}

fn delete<'a>(stream: StreamNumber, rows: impl IntoIterator<Item = &'a OutboxRow>) -> RowsCommit {
    let mut commit = row_change(stream);
    commit.rows.delete = rows.into_iter().map(key).collect();
    commit
}

/// Keys may have any length.
pub async fn an_effect_is_read_as_written<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let keys = ["", "k", "größe \u{0} ü", &"l".repeat(5_000)];
    for text in keys {
        let row = effect(stream, text);
        f.accept(put(stream, [&row])).await;
        assert_eq!(f.row(key(&row)).await, Some(Row::Outbox(row.clone())));
        assert!(f.outbox().await.contains(&row));
    }
    assert_eq!(f.outbox().await.len(), keys.len());
}

/// The order in which effects were caused does not matter.
pub async fn effects_are_ordered_by_stream_and_key<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    f.accept(put(b, &[effect(b, "1"), effect(b, "0")])).await;
    f.accept(put(a, &[effect(a, "2"), effect(a, "10")])).await;
    let expected = [
        effect(a, "10"),
        effect(a, "2"),
        effect(b, "0"),
        effect(b, "1"),
    ];
    assert_eq!(f.outbox().await, expected);
}

pub async fn paging_returns_every_effect_once<S: Store>(f: &Fixture<S>) {
    for name in ["a", "b", "c"] {
        let stream = f.create(name).await;
        let rows: Vec<_> = (0..5).map(|n| effect(stream, &n.to_string())).collect();
        f.accept(put(stream, &rows)).await;
    }
    let mut seen: Vec<OutboxRow> = Vec::new();
    loop {
        let after = seen.last().map(|row| (row.stream, row.key.clone()));
        let page = f.store.outbox(after, 4).await.unwrap();
        assert!(page.len() <= 4);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, f.outbox().await);
    assert_eq!(seen.len(), 15);
}

/// Deleting an effect twice is no error, and other effects stay.
pub async fn a_deleted_effect_is_not_listed<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let (x, y) = (effect(stream, "x"), effect(stream, "y"));
    f.accept(put(stream, [&x, &y])).await;
    f.accept(delete(stream, [&x])).await;
    f.accept(delete(stream, [&x])).await;
    assert_eq!(f.outbox().await, std::slice::from_ref(&y));
    f.commit(batch![put(stream, [&x]), delete(stream, [&x, &y])])
        .await;
    assert!(f.outbox().await.is_empty());
    assert_eq!(f.row(key(&x)).await, None);
}

pub async fn a_closing_commit_may_leave_effects<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let row = effect(stream, "end");
    let mut close = put(stream, [&row]);
    close.records = vec![event("last")];
    close.close = true;
    f.accept(close).await;
    assert_eq!(f.outbox().await, [row]);
}

/// Nothing else of the stream changes.
pub async fn rows_of_a_closed_stream_can_be_deleted<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Running))
        .await;
    let (x, y) = (effect(stream, "x"), effect(stream, "y"));
    let open = rpc(stream, "r");
    let mut close = put(stream, [&x, &y]);
    close.rows.put.push(Row::Rpc(open.clone()));
    close.close = true;
    close.status = Some(RunStatus::Completed);
    f.accept(close).await;
    let before = f.head(stream).await;
    let mut clear = delete(stream, [&x]);
    clear.rows.delete.push(RowKey::Rpc(stream, open.id.clone()));
    let outcome = f.commit_one(clear).await;
    assert!(matches!(
        outcome,
        Outcome::Committed { first, taken: None, .. } if first == before.next
    ));
    assert_eq!(f.outbox().await, [y]);
    assert_eq!(f.row(RowKey::Rpc(stream, open.id)).await, None);
    assert_eq!(f.head(stream).await, before);
    assert_eq!(
        f.refuse(inbox(stream, vec![event("late")])).await,
        Refusal::Closed
    );
}

/// No row, mark, status or claim is accepted together with them.
pub async fn a_closed_stream_accepts_only_deletions<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let row = effect(stream, "x");
    let mut close = put(stream, [&row]);
    close.close = true;
    f.accept(close).await;
    let mut put_late = delete(stream, [&row]);
    put_late.rows.put.push(Row::Outbox(effect(stream, "late")));
    assert_eq!(f.refuse(put_late).await, Refusal::Closed);
    let changes: [fn(&mut DeliverCommit); 6] = [
        |_| {},
        |commit| commit.records.push(event("late")),
        |commit| commit.ready = Some(true),
        |commit| commit.status = Some(RunStatus::Running),
        |commit| commit.close = true,
        |commit| {
            commit.lease = InboxLease::Claim(Claim {
                node: NODE,
                nonce: NONCE,
            });
        },
    ];
    for change in changes {
        let mut commit = inbox(stream, vec![]);
        commit.rows.delete.push(key(&row));
        change(&mut commit);
        assert_eq!(f.refuse(commit).await, Refusal::Closed);
    }
    assert_eq!(f.outbox().await, [row]);
}

/// The author of a creation cannot know the number of the stream, so the store fills it in.
pub async fn effects_of_a_creation_belong_to_the_new_stream<S: Store>(f: &Fixture<S>) {
    f.create("a").await;
    let mut commit = creation("b");
    commit
        .rows
        .put
        .push(Row::Outbox(effect(StreamNumber(0), "x")));
    let stream = f.create_with(commit).await;
    assert_eq!(f.outbox().await, [effect(stream, "x")]);
}

pub async fn a_refused_commit_leaves_no_effect<S: Store>(f: &Fixture<S>) {
    let mut commit = put(StreamNumber(7), [&effect(StreamNumber(7), "x")]);
    assert_eq!(f.refuse(commit.clone()).await, Refusal::NoStream);
    let stream = f.create("a").await;
    commit.stream = stream;
    commit.rows.put.push(Row::Outbox(effect(stream, "y")));
    commit
        .guards
        .push(everstep_store::Guard::InboxSeen(u64::MAX));
    f.refuse(commit).await;
    assert!(f.outbox().await.is_empty());
}
