//! Shared rows: they belong to no stream, are deleted by value, and are read in ranges.

use everstep_model::{RunStatus, StreamNumber};
use everstep_store::{
    CommitTime, Guard, KeyPart, Outcome, Refusal, Row, RowKey, RowRange, SharedKey, SharedKind,
    SharedRow, Store,
};

use crate::batch;
use crate::clock::START;
use crate::fixture::Fixture;
use crate::sample::{
    NODE, NONCE, closing, creation, event, executor, inbox, removal, row_change, run_creation,
    shared, step,
};

fn slot(number: u64, value: &str) -> SharedRow {
    let parts = [KeyPart::from("limit"), KeyPart::from(number)];
    shared(SharedKind::Slot, &parts, value)
}

async fn stored<S: Store>(f: &Fixture<S>, key: &SharedKey) -> Option<SharedRow> {
    match f.row(RowKey::Shared(key.clone())).await {
        Some(Row::Shared(row)) => Some(row),
        None => None,
        other => panic!("{other:?}"),
    }
}

async fn put<S: Store>(f: &Fixture<S>, stream: StreamNumber, rows: &[SharedRow]) {
    let mut commit = row_change(stream);
    commit.rows.put = rows.iter().cloned().map(Row::Shared).collect();
    f.accept(commit).await;
}

fn all(kind: SharedKind) -> RowRange {
    RowRange {
        kind,
        prefix: Vec::new(),
        after: None,
        limit: 100,
        reverse: false,
    }
}

/// Covers all kinds and unusual parts of keys.
pub async fn a_shared_row_is_read_as_written<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let parts = [
        vec![],
        vec![KeyPart::from("")],
        vec![KeyPart::from("k\u{0}\u{1F980}"), KeyPart::from(u64::MAX)],
        vec![KeyPart::from("x".repeat(SharedKey::MAX_BYTES - 2))],
    ];
    for kind in SharedKind::ALL {
        for parts in &parts {
            let row = shared(kind, parts, "\u{0}value");
            put(f, stream, std::slice::from_ref(&row)).await;
            assert_eq!(stored(f, &row.key).await, Some(row));
        }
        assert_eq!(f.rows(all(kind)).await.len(), parts.len());
    }
}

/// Commits of all kinds see and change the same row.
pub async fn commits_of_all_streams_share_a_row<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    let row = slot(0, "a");
    let take = |stream, value: &str| {
        let mut commit = inbox(stream, vec![event("x")]);
        commit
            .guards
            .push(Guard::RowAbsent(RowKey::Shared(row.key.clone())));
        commit.rows.put.push(Row::Shared(slot(0, value)));
        commit
    };
    let outcomes = f.commit(vec![take(a, "a"), take(b, "b")]).await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    let held = Refusal::RowPresent(Box::new(Row::Shared(row.clone())));
    assert_eq!(outcomes[1], Outcome::Refused(held.clone()));
    let mut create = creation("c");
    create.guards = take(b, "c").guards;
    assert_eq!(f.refuse(create).await, held);
    let fence = f.take(b, NODE, NONCE).await;
    let mut replace = executor(b, fence, 1, 1, vec![step("s")]);
    replace.guards.push(Guard::RowIs(Row::Shared(row.clone())));
    replace.rows.put.push(Row::Shared(slot(0, "b")));
    f.accept(replace).await;
    assert_eq!(stored(f, &row.key).await, Some(slot(0, "b")));
}

/// A row that differs stays, and the rest of the commit applies.
pub async fn a_shared_row_is_deleted_by_value<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    put(f, stream, &[slot(0, "new"), slot(1, "one"), slot(2, "two")]).await;
    let mut commit = inbox(stream, vec![event("x")]);
    commit.rows.delete_exact = vec![slot(0, "old"), slot(1, "one"), slot(9, "absent")];
    f.accept(commit).await;
    assert_eq!(f.numbers(stream).await, [0, 1]);
    let left = [slot(0, "new"), slot(2, "two")];
    assert_eq!(f.rows(all(SharedKind::Slot)).await, left);
    // Earlier commits of the batch count.
    let mut free = row_change(stream);
    free.rows.delete_exact.push(slot(0, "new"));
    let mut take = row_change(stream);
    take.rows.put.push(Row::Shared(slot(0, "newer")));
    let outcomes = f.commit(vec![free.clone(), take, free]).await;
    assert!(
        outcomes
            .iter()
            .all(|o| matches!(o, Outcome::Committed { .. }))
    );
    assert_eq!(stored(f, &slot(0, "").key).await, Some(slot(0, "newer")));
}

pub async fn a_commit_may_replace_what_it_deletes<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    put(f, stream, &[slot(0, "old")]).await;
    let mut commit = row_change(stream);
    commit.rows.delete_exact.push(slot(0, "old"));
    commit.rows.put.push(Row::Shared(slot(0, "new")));
    f.accept(commit).await;
    assert_eq!(stored(f, &slot(0, "").key).await, Some(slot(0, "new")));
}

/// The time is compared like the rest of the row.
pub async fn the_store_fills_in_the_time_of_the_commit<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let rate = |value: &str, committed_at| SharedRow {
        committed_at,
        ..shared(SharedKind::Rate, &[KeyPart::from("limit")], value)
    };
    put(f, stream, &[rate("a", CommitTime::FillIn)]).await;
    let first = rate("a", CommitTime::At(START));
    assert_eq!(stored(f, &first.key).await, Some(first.clone()));
    f.clock.advance(std::time::Duration::from_millis(1_500));
    let later = f.now();
    let replace = |from: &SharedRow| {
        let mut commit = row_change(stream);
        commit.guards.push(Guard::RowIs(Row::Shared(from.clone())));
        commit
            .rows
            .put
            .push(Row::Shared(rate("a", CommitTime::FillIn)));
        commit
    };
    let outcomes = f.commit(vec![replace(&first), replace(&first)]).await;
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowChanged));
    let second = rate("a", CommitTime::At(later));
    let left = f.rows(all(SharedKind::Rate)).await;
    assert_eq!(left.as_slice(), std::slice::from_ref(&second));
    let mut delete = row_change(stream);
    delete.rows.delete_exact.push(first);
    f.accept(delete.clone()).await;
    assert_eq!(stored(f, &second.key).await, Some(second.clone()));
    delete.rows.delete_exact = vec![second.clone()];
    f.accept(delete).await;
    assert_eq!(stored(f, &second.key).await, None);
}

/// The removal deletes the shared rows that it names.
pub async fn a_removal_leaves_shared_rows<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    put(f, stream, &[slot(0, "a"), slot(1, "a")]).await;
    f.accept(closing(stream)).await;
    let mut gone = removal(&[stream]);
    gone.rows.delete_exact.push(slot(1, "a"));
    gone.rows.put.push(Row::Shared(slot(2, "b")));
    f.accept(gone).await;
    assert_eq!(
        f.rows(all(SharedKind::Slot)).await,
        [slot(0, "a"), slot(2, "b")]
    );
    // A sweep clears rows of removed streams.
    let mut sweep = row_change(stream);
    sweep.rows.delete_exact.push(slot(0, "a"));
    f.accept(sweep).await;
    assert_eq!(f.rows(all(SharedKind::Slot)).await, [slot(2, "b")]);
}

pub async fn a_closed_stream_deletes_shared_rows<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Running))
        .await;
    put(f, stream, &[slot(0, "a")]).await;
    f.accept(closing(stream)).await;
    let mut clear = row_change(stream);
    clear.rows.delete_exact.push(slot(0, "a"));
    f.accept(clear.clone()).await;
    clear.rows.put.push(Row::Shared(slot(0, "b")));
    assert_eq!(f.refuse(clear).await, Refusal::Closed);
    assert_eq!(f.rows(all(SharedKind::Slot)).await, []);
}

/// Covers prefixes and both directions.
pub async fn a_range_follows_the_order_of_keys<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let waiter = |parts: &[KeyPart]| shared(SharedKind::Waiter, parts, "w");
    let text = |text: &str| KeyPart::from(text);
    let number = |number: u64| KeyPart::from(number);
    let rows = vec![
        waiter(&[text("a"), text("b")]),
        waiter(&[text("a"), number(2)]),
        waiter(&[text("a"), number(2), text("x")]),
        waiter(&[text("a"), number(300)]),
        waiter(&[text("a\u{0}")]),
        waiter(&[text("ab")]),
        waiter(&[number(1)]),
    ];
    let mut shuffled = rows.clone();
    shuffled.rotate_left(3);
    shuffled.push(slot(0, "other kind"));
    put(f, stream, &shuffled).await;
    assert_eq!(f.rows(all(SharedKind::Waiter)).await, rows);
    let below = |prefix: &[KeyPart], reverse| RowRange {
        prefix: prefix.to_vec(),
        reverse,
        ..all(SharedKind::Waiter)
    };
    assert_eq!(f.rows(below(&[text("a")], false)).await, rows[..4]);
    let mut backwards = rows[..4].to_vec();
    backwards.reverse();
    assert_eq!(f.rows(below(&[text("a")], true)).await, backwards);
    assert_eq!(
        f.rows(below(&[text("a"), number(2)], false)).await,
        rows[1..3]
    );
    assert_eq!(f.rows(below(&[text("c")], false)).await, []);
    let page = |after: &SharedRow, reverse, limit| RowRange {
        after: Some(after.key.clone()),
        limit,
        ..below(&[text("a")], reverse)
    };
    assert_eq!(f.rows(page(&rows[0], false, 2)).await, rows[1..3]);
    assert_eq!(f.rows(page(&rows[3], true, 1)).await, rows[2..3]);
    assert_eq!(f.rows(page(&rows[3], false, 9)).await, []);
    // A range may begin at a key that does not exist, also outside the prefix.
    let before = waiter(&[text("Z")]);
    assert_eq!(f.rows(page(&before, false, 9)).await, rows[..4]);
    assert_eq!(f.rows(page(&rows[6], true, 9)).await, backwards);
}

pub async fn a_refused_commit_changes_no_shared_row<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    put(f, stream, &[slot(0, "a")]).await;
    let mut refused = inbox(stream, vec![]);
    refused.guards.push(Guard::InboxSeen(99));
    refused.rows.delete_exact.push(slot(0, "a"));
    refused.rows.put.push(Row::Shared(slot(1, "a")));
    let outcomes = f.commit(batch![refused, row_change(stream)]).await;
    assert!(matches!(outcomes[0], Outcome::Refused(_)));
    assert_eq!(f.rows(all(SharedKind::Slot)).await, [slot(0, "a")]);
}

/// Stored rows have a time or none.
pub async fn a_time_to_fill_in_equals_no_stored_row<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    put(f, stream, &[slot(0, "a")]).await;
    let unfilled = SharedRow {
        committed_at: CommitTime::FillIn,
        ..slot(0, "a")
    };
    let mut delete = row_change(stream);
    delete.rows.delete_exact.push(unfilled.clone());
    f.accept(delete.clone()).await;
    assert_eq!(stored(f, &unfilled.key).await, Some(slot(0, "a")));
    delete.guards.push(Guard::RowIs(Row::Shared(unfilled)));
    assert_eq!(f.refuse(delete).await, Refusal::RowChanged);
}

/// Keys sort by kind first, so a key of another kind is before or after the whole range.
pub async fn a_range_begins_after_a_key_of_any_kind<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let rows = [slot(0, "a"), slot(1, "b")];
    put(f, stream, &rows).await;
    let after = |kind, reverse| RowRange {
        after: Some(shared(kind, &[KeyPart::from("limit")], "").key),
        reverse,
        ..all(SharedKind::Slot)
    };
    assert_eq!(f.rows(after(SharedKind::Schedule, false)).await, rows);
    assert_eq!(f.rows(after(SharedKind::Schedule, true)).await, []);
    assert_eq!(f.rows(after(SharedKind::Waiter, false)).await, []);
    let reversed = [slot(1, "b"), slot(0, "a")];
    assert_eq!(f.rows(after(SharedKind::Waiter, true)).await, reversed);
}
