//! Rows of streams, and guards on them.

use everstep_model::{Name, Payload, RpcId};
use everstep_store::{Guard, Outcome, Refusal, Row, RowKey, RpcRow, Store};

use crate::fixture::Fixture;
use crate::sample::{event, idempotency, inbox, name, rpc};

fn key(row: &RpcRow) -> RowKey {
    RowKey::Rpc(row.stream, row.id.clone())
}

/// With and without optional fields.
pub async fn an_rpc_row_is_read_as_written<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let full = rpc(stream, "full");
    let bare = RpcRow {
        deadline: None,
        schema: None,
        ..rpc(stream, "bare")
    };
    let mut commit = inbox(stream, vec![]);
    commit.rows.put = vec![Row::Rpc(full.clone()), Row::Rpc(bare.clone())];
    f.accept(commit).await;
    assert_eq!(f.row(key(&full)).await, Some(Row::Rpc(full)));
    assert_eq!(f.row(key(&bare)).await, Some(Row::Rpc(bare)));
    assert_eq!(f.row(RowKey::Rpc(stream, RpcId("ful".into()))).await, None);
}

/// Of two answers in one batch, the first deletes the row and the second is refused.
pub async fn a_present_row_is_required_once<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let open = rpc(stream, "r");
    let mut ask = inbox(stream, vec![]);
    ask.rows.put.push(Row::Rpc(open.clone()));
    f.accept(ask).await;
    let answer = || {
        let mut commit = inbox(stream, vec![event("answer")]);
        commit.guards.push(Guard::RowPresent(key(&open)));
        commit.rows.delete.push(key(&open));
        commit
    };
    let outcomes = f.commit(vec![answer(), answer()]).await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowAbsent));
    assert_eq!(f.refuse(answer()).await, Refusal::RowAbsent);
}

pub async fn a_row_that_must_be_absent_refuses_the_commit<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let row = idempotency("order", "key", "a");
    let mut commit = inbox(stream, vec![]);
    commit.guards.push(Guard::RowAbsent(row.key()));
    commit.rows.put.push(row.clone());
    f.accept(commit.clone()).await;
    assert_eq!(f.refuse(commit).await, Refusal::RowPresent(Box::new(row)));
}

pub async fn a_row_put_again_is_replaced<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let old = rpc(stream, "r");
    let new = RpcRow {
        schema: Some(Payload::null()),
        ..old.clone()
    };
    for row in [&old, &new] {
        let mut commit = inbox(stream, vec![]);
        commit.rows.put.push(Row::Rpc(row.clone()));
        f.accept(commit).await;
    }
    assert_eq!(f.row(key(&old)).await, Some(Row::Rpc(new)));
}

/// The concatenated parts of these keys are equal or similar.
pub async fn keys_with_common_prefixes_are_distinct<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let pairs = [
        ("a", "bc"),
        ("ab", "c"),
        ("a", ""),
        ("ab", "\u{0}c"),
        ("a", "b\u{0}c"),
        ("größe", "ß"),
    ];
    for (n, (workflow, key)) in pairs.iter().enumerate() {
        let mut commit = inbox(stream, vec![]);
        let row = idempotency(workflow, key, &format!("s{n}"));
        commit.guards.push(Guard::RowAbsent(row.key()));
        commit.rows.put.push(row);
        f.accept(commit).await;
    }
    for (n, (workflow, key)) in pairs.iter().enumerate() {
        let found = f
            .row(RowKey::Idempotency(name(workflow), (*key).to_owned()))
            .await;
        assert_eq!(found, Some(idempotency(workflow, key, &format!("s{n}"))));
    }
}

pub async fn long_keys_are_distinct<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let workflow: Name = name(&"ü".repeat(256));
    for length in [512, 5_000, 70_000, 70_001] {
        let key = "k".repeat(length);
        let row = RowKey::Idempotency(workflow.clone(), key.clone());
        assert_eq!(f.row(row.clone()).await, None);
        let mut commit = inbox(stream, vec![]);
        commit
            .rows
            .put
            .push(idempotency(workflow.as_str(), &key, "s"));
        f.accept(commit).await;
        assert_eq!(
            f.row(row).await,
            Some(idempotency(workflow.as_str(), &key, "s"))
        );
    }
}

pub async fn deleting_nothing_is_no_error<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let row = rpc(stream, "r");
    let mut commit = inbox(stream, vec![]);
    commit.rows.put.push(Row::Rpc(row.clone()));
    commit
        .rows
        .delete
        .push(RowKey::Rpc(stream, RpcId("other".into())));
    f.accept(commit).await;
    assert!(f.row(key(&row)).await.is_some());
}
