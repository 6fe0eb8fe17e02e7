//! Guards on the inbox: a commit that suspends or ends a run requires that the executor has seen
//! the whole inbox.

use everstep_store::{Guard, Outcome, Refusal, Store};

use crate::batch;
use crate::fixture::Fixture;
use crate::sample::{event, executor, inbox, step, wait_completed};

pub async fn unseen_records_refuse_the_commit_and_are_reported<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(executor(stream, fence, 1, 1, vec![step("s")]))
        .await;
    f.accept(inbox(stream, vec![event("x"), event("y")])).await;
    let mut suspend = executor(stream, fence, 2, 2, vec![step("t")]);
    suspend.guards.push(Guard::InboxSeen(1));
    let refusal = f.refuse(suspend).await;
    let Refusal::InboxGrew { missed } = refusal else {
        panic!("{refusal:?}");
    };
    let missed: Vec<_> = missed
        .iter()
        .map(|e| (e.number.0, e.record.clone()))
        .collect();
    assert_eq!(missed, [(2, event("x")), (3, event("y"))]);
}

/// The executor's own records do not matter.
pub async fn a_seen_inbox_passes<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(inbox(stream, vec![event("x")])).await;
    f.accept(executor(stream, fence, 1, 2, vec![step("s")]))
        .await;
    let mut suspend = executor(stream, fence, 2, 3, vec![]);
    suspend.guards.push(Guard::InboxSeen(2));
    f.accept(suspend).await;
    assert_eq!(f.head(stream).await.frame.inbox_count, 2);
}

pub async fn an_unseen_record_earlier_in_the_batch_refuses_the_commit<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let mut suspend = executor(stream, fence, 1, 1, vec![]);
    suspend.guards.push(Guard::InboxSeen(1));
    let outcomes = f
        .commit(batch![
            inbox(stream, vec![event("x")]),
            suspend.clone(),
            inbox(stream, vec![event("y")]),
        ])
        .await;
    let Outcome::Refused(Refusal::InboxGrew { missed }) = &outcomes[1] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(missed.len(), 1, "only records before the commit");
    assert_eq!(missed[0].record, event("x"));
}

pub async fn unconsumed_events_are_counted<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    f.accept(inbox(stream, vec![event("x"), event("y"), event("z")]))
        .await;
    assert_eq!(f.head(stream).await.frame.unconsumed_events, 3);
    f.accept(executor(stream, fence, 1, 4, vec![wait_completed(&[1, 2])]))
        .await;
    assert_eq!(f.head(stream).await.frame.unconsumed_events, 1);
}

pub async fn too_many_events_are_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let send = || {
        let mut commit = inbox(stream, vec![event("x")]);
        commit.guards.push(Guard::UnconsumedEventsBelow(2));
        commit
    };
    let outcomes = f.commit(vec![send(), send(), send()]).await;
    assert!(matches!(outcomes[1], Outcome::Committed { .. }));
    assert_eq!(outcomes[2], Outcome::Refused(Refusal::TooManyEvents(2)));
}
