//! Commits are atomic, judged in order, and numbered by the store.

use everstep_model::{RecordNumber, StreamNumber};
use everstep_store::{Commit, Guard, Outcome, Refusal, Row, RowKey, Store};

use crate::batch;
use crate::fixture::Fixture;
use crate::sample::{creation, event, executor, inbox, rpc, step, timer};

/// Numbers are consecutive across commits and within them.
pub async fn records_are_numbered_in_order<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    assert_eq!(
        f.accept(inbox(stream, vec![event("x"), event("y")])).await,
        RecordNumber(1)
    );
    assert_eq!(
        f.accept(inbox(stream, vec![event("z")])).await,
        RecordNumber(3)
    );
    let entries = f.entries(stream).await;
    let numbers: Vec<u64> = entries.iter().map(|e| e.number.0).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(entries[2].record, event("y"));
    assert_eq!(f.head(stream).await.next, RecordNumber(4));
}

pub async fn a_commit_without_records_reports_the_next_number<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    assert_eq!(f.accept(inbox(stream, vec![])).await, RecordNumber(1));
    assert_eq!(f.head(stream).await.next, RecordNumber(1));
}

pub async fn an_empty_batch_is_accepted<S: Store>(f: &Fixture<S>) {
    assert!(f.commit(Vec::<Commit>::new()).await.is_empty());
}

pub async fn commits_of_one_stream_are_judged_in_batch_order<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mut close = inbox(stream, vec![event("last")]);
    close.close = true;
    let batch = vec![
        inbox(stream, vec![event("x")]),
        close,
        inbox(stream, vec![event("late")]),
    ];
    let outcomes = f.commit(batch).await;
    assert!(matches!(
        outcomes[0],
        Outcome::Committed {
            first: RecordNumber(1),
            ..
        }
    ));
    assert!(matches!(
        outcomes[1],
        Outcome::Committed {
            first: RecordNumber(2),
            ..
        }
    ));
    assert_eq!(outcomes[2], Outcome::Refused(Refusal::Closed));
}

pub async fn a_refusal_does_not_affect_the_rest_of_the_batch<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    let mut refused = inbox(a, vec![event("x")]);
    refused.guards.push(Guard::InboxSeen(99));
    let outcomes = f
        .commit(vec![
            inbox(b, vec![event("y")]),
            refused,
            inbox(a, vec![event("z")]),
        ])
        .await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    assert!(matches!(outcomes[1], Outcome::Refused(_)));
    assert!(matches!(
        outcomes[2],
        Outcome::Committed {
            first: RecordNumber(1),
            ..
        }
    ));
    assert_eq!(f.entries(a).await[1].record, event("z"));
}

/// No record, row, mark, dedup id, close or lease changes.
pub async fn a_refused_commit_changes_nothing<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let before = f.head(stream).await;
    let mut refused = inbox(stream, vec![event("x")]);
    refused.guards.push(Guard::InboxSeen(99));
    refused.dedup = Some("id".to_owned());
    refused.ready = Some(true);
    refused.close = true;
    refused.rows.put = vec![
        Row::Timer(timer(stream, 1, None)),
        Row::Rpc(rpc(stream, "r")),
    ];
    f.refuse(refused).await;
    assert_eq!(f.head(stream).await, before);
    assert_eq!(f.numbers(stream).await, [0]);
    assert!(f.timers(timer(stream, 9, None).due).await.is_empty());
    assert_eq!(f.row(RowKey::Rpc(stream, rpc(stream, "r").id)).await, None);
    assert!(f.ready().await.is_empty());
    assert!(
        f.list(everstep_store::ListQuery {
            limit: 9,
            ..Default::default()
        })
        .await
        .rows
        .is_empty()
    );
    let mut again = inbox(stream, vec![event("x")]);
    again.dedup = Some("id".to_owned());
    f.accept(again).await;
}

pub async fn a_closed_stream_accepts_no_commit<S: Store>(f: &Fixture<S>) {
    let mut commit = creation("a");
    commit.close = true;
    let stream = f.create_with(commit).await;
    assert!(f.head(stream).await.closed);
    assert_eq!(
        f.refuse(inbox(stream, vec![event("x")])).await,
        Refusal::Closed
    );
    assert_eq!(f.refuse(inbox(stream, vec![])).await, Refusal::Closed);
}

pub async fn an_unknown_stream_is_refused<S: Store>(f: &Fixture<S>) {
    let unknown = StreamNumber(4_711);
    assert_eq!(
        f.refuse(inbox(unknown, vec![event("x")])).await,
        Refusal::NoStream
    );
}

pub async fn an_inbox_commit_cannot_write_executor_records<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let mixed = inbox(stream, vec![event("x"), step("s")]);
    assert_eq!(f.refuse(mixed).await, Refusal::NotInbox);
}

/// The outcome reports the records between those that the executor had seen and its own.
pub async fn an_executor_gets_the_records_it_has_not_seen<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let batch = batch![
        inbox(stream, vec![event("x"), event("y")]),
        executor(stream, fence, 1, 1, vec![step("s")]),
    ];
    let outcomes = f.commit(batch).await;
    let Outcome::Committed { first, before, .. } = &outcomes[1] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(*first, RecordNumber(3));
    let unseen: Vec<_> = before
        .iter()
        .map(|e| (e.number.0, e.record.clone()))
        .collect();
    assert_eq!(unseen, [(1, event("x")), (2, event("y"))]);
}

pub async fn an_executor_that_has_seen_all_records_gets_none<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let outcome = f
        .commit_one(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
    assert!(matches!(outcome, Outcome::Committed { before, .. } if before.is_empty()));
}
