//! Removing streams, and replacing a stream by another one in the lists.

use std::sync::Arc;

use everstep_model::{RecordNumber, RunStatus, StreamNumber, Term};
use everstep_store::{Commit, Guard, ListQuery, Outcome, Refusal, Row, Store, StreamRef};

use crate::batch;
use crate::block_on::block_on;
use crate::fixture::Fixture;
use crate::sample::{
    closing, creation, event, generation, idempotency, inbox, removal, row_change, rpc, run,
    run_creation, step, timer,
};

/// A closed run with one tag.
async fn closed_run<S: Store>(f: &Fixture<S>, id: &str) -> StreamNumber {
    let mut commit = run_creation(id, "order", RunStatus::Completed);
    let row = commit.run.as_mut().map(Arc::make_mut);
    row.unwrap().tags.push("red".to_owned());
    let stream = f.create_with(commit).await;
    f.accept(closing(stream)).await;
    stream
}

async fn listed<S: Store>(f: &Fixture<S>, query: ListQuery) -> Vec<String> {
    let page = f.list(ListQuery { limit: 10, ..query }).await;
    page.rows.iter().map(|row| row.id.to_string()).collect()
}

/// Asserts that all lists contain exactly these runs.
async fn assert_listed<S: Store>(f: &Fixture<S>, ids: &[&str]) {
    let by_status = ListQuery {
        statuses: vec![RunStatus::Completed],
        ..ListQuery::default()
    };
    let by_tag = ListQuery {
        tag: Some("red".to_owned()),
        ..ListQuery::default()
    };
    for query in [ListQuery::default(), by_status, by_tag] {
        assert_eq!(listed(f, query.clone()).await, ids, "{query:?}");
    }
}

/// Records, head, name, lists, ready mark, dedup ids and rpcs are removed, and nothing else is.
pub async fn a_removal_deletes_all_data_of_the_stream<S: Store>(f: &Fixture<S>) {
    let kept = closed_run(f, "kept").await;
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Completed))
        .await;
    let (open, due) = (rpc(stream, "r"), timer(stream, 5, None));
    let mut commit = inbox(stream, vec![event("x")]);
    commit.dedup = Some("once".to_owned());
    commit.rows.put = vec![Row::Rpc(open.clone()), Row::Timer(due.clone())];
    commit.ready = Some(true);
    commit.close = true;
    f.accept(commit).await;
    let mut gone = removal(&[stream]);
    gone.rows.delete.push(Row::Timer(due.clone()).key());
    f.accept(gone).await;
    assert_eq!(f.head_of("workflows/a").await, None);
    assert_eq!(f.store.head(StreamRef::Number(stream)).await.unwrap(), None);
    assert_eq!(f.row(Row::Rpc(open).key()).await, None);
    assert!(f.timers(due.due).await.is_empty());
    assert!(f.ready().await.is_empty());
    assert_listed(f, &["kept"]).await;
    assert_eq!(f.numbers(kept).await, [0]);
    assert_eq!(
        f.refuse(inbox(stream, vec![event("y")])).await,
        Refusal::NoStream
    );
    assert_eq!(f.refuse(removal(&[stream])).await, Refusal::NoStream);
}

/// Timers are indexed by time, so one may remain after its stream. It can be deleted by its key.
pub async fn rows_of_a_removed_stream_can_be_deleted<S: Store>(f: &Fixture<S>) {
    let stream = f
        .create_with(run_creation("a", "order", RunStatus::Completed))
        .await;
    let due = timer(stream, 5, None);
    let mut commit = inbox(stream, vec![]);
    commit.rows.put = vec![Row::Timer(due.clone())];
    commit.close = true;
    f.accept(commit).await;
    f.accept(removal(&[stream])).await;
    assert_eq!(f.timers(due.due).await.len(), 1);
    let mut cleared = row_change(stream);
    cleared.rows.delete.push(Row::Timer(due.clone()).key());
    f.accept(cleared.clone()).await;
    assert!(f.timers(due.due).await.is_empty());
    let mut refused = inbox(stream, vec![]);
    refused.rows.delete.push(Row::Timer(due).key());
    assert_eq!(f.refuse(refused).await, Refusal::NoStream);
    cleared.rows.put.push(Row::Rpc(rpc(stream, "r")));
    assert_eq!(f.refuse(cleared).await, Refusal::NoStream);
    assert_eq!(f.head_of("workflows/a").await, None);
}

/// The new stream has a new number, a higher term, and no data of the old one.
pub async fn a_removed_name_can_be_used_again<S: Store>(f: &Fixture<S>) {
    let old = closed_run(f, "a").await;
    let mut anew = run_creation("a", "order", RunStatus::Queued);
    anew.records.push(event("new"));
    let outcomes = f.commit(batch![removal(&[old]), anew]).await;
    let Outcome::Committed { stream, .. } = outcomes[1] else {
        panic!("{outcomes:?}");
    };
    assert!(stream > old, "{stream} {old}");
    assert_eq!(f.head(stream).await.term, Term(1));
    assert_eq!(f.numbers(stream).await, [0, 1]);
    f.accept(closing(stream)).await;
    f.accept(removal(&[stream])).await;
    let third = f.create("workflows/a").await;
    assert!(third > stream && f.head(third).await.term > Term(1));
}

/// Of several streams, all or none are removed.
pub async fn an_open_stream_is_not_removed<S: Store>(f: &Fixture<S>) {
    let (closed, open) = (closed_run(f, "a").await, f.create("b").await);
    assert_eq!(f.refuse(removal(&[open])).await, Refusal::Open);
    assert_eq!(f.refuse(removal(&[closed, open])).await, Refusal::Open);
    assert_eq!(f.refuse(removal(&[])).await, Refusal::NoStream);
    assert_eq!(f.numbers(closed).await, [0]);
    f.accept(closing(open)).await;
    f.accept(removal(&[closed, open])).await;
    assert_eq!(f.head_of("b").await, None);
}

/// Not even the highest number is used again.
pub async fn numbers_of_removed_streams_are_not_used_again<S: Store>(f: &Fixture<S>) {
    let last = closed_run(f, "a").await;
    f.accept(removal(&[last])).await;
    assert!(f.create("b").await > last);
}

/// A run is listed once, with its latest stream.
pub async fn a_superseded_run_is_not_listed<S: Store>(f: &Fixture<S>) {
    let old = closed_run(f, "a").await;
    assert_listed(f, &["a"]).await;
    let mut next = creation("workflows/a@2");
    let mut row = run("second", "order", RunStatus::Completed);
    row.tags.push("red".to_owned());
    next.run = Some(row.into());
    next.supersedes = Some(old);
    next.rows.put.push(generation("a", 2, StreamNumber(0)));
    let stream = f.create_with(next).await;
    assert_listed(f, &["second"]).await;
    assert!(f.head(old).await.superseded);
    let found = f.row(generation("a", 2, stream).key()).await;
    assert_eq!(found, Some(generation("a", 2, stream)));
    assert_eq!(f.refuse(removal(&[old])).await, Refusal::Superseded);
    f.accept(closing(stream)).await;
    f.accept(removal(&[stream, old])).await;
    assert_listed(f, &[]).await;
}

/// A stream is superseded at most once.
pub async fn only_a_closed_stream_is_superseded<S: Store>(f: &Fixture<S>) {
    let open = f.create("a").await;
    let next = |name: &str, old| {
        let mut commit = creation(name);
        commit.supersedes = Some(old);
        commit
    };
    assert_eq!(f.refuse(next("b", open)).await, Refusal::Open);
    assert_eq!(
        f.refuse(next("b", StreamNumber(999))).await,
        Refusal::NoStream
    );
    assert_eq!(f.head_of("b").await, None);
    f.accept(closing(open)).await;
    let outcomes = f.commit(vec![next("b", open), next("c", open)]).await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::Superseded));
}

/// A creation may contain records that otherwise only an executor writes. They are counted.
pub async fn a_creation_may_begin_with_a_copy<S: Store>(f: &Fixture<S>) {
    let mut copy = creation("a");
    copy.records.extend([event("x"), step("s"), event("y")]);
    let stream = f.create_with(copy).await;
    assert_eq!(f.numbers(stream).await, [0, 1, 2, 3]);
    assert_eq!(f.head(stream).await.frame.inbox_count, 3);
    assert_eq!(
        f.refuse(inbox(stream, vec![step("s")])).await,
        Refusal::NotInbox
    );
}

pub async fn a_commit_to_a_stream_that_grew_is_refused<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let at = |end| {
        let mut commit = inbox(stream, vec![event("x")]);
        commit.guards.push(Guard::EndsAt(RecordNumber(end)));
        commit
    };
    f.accept(at(1)).await;
    let grew = Refusal::EndsElsewhere(RecordNumber(2));
    assert_eq!(f.refuse(at(1)).await, grew);
    f.accept(at(2)).await;
}

/// Guards on rows and time are judged. A guard on the stream refuses the commit, because there is
/// no stream to compare with.
pub async fn guards_are_judged_after_the_stream_is_removed<S: Store>(f: &Fixture<S>) {
    let stream = closed_run(f, "a").await;
    f.accept(removal(&[stream])).await;
    let clear = |guard| {
        let mut commit = row_change(stream);
        commit.guards.push(guard);
        commit.rows.delete.push(generation("a", 2, stream).key());
        commit
    };
    let absent = idempotency("order", "k", "workflows/a");
    let missing = clear(Guard::RowPresent(absent.key()));
    assert_eq!(f.refuse(missing).await, Refusal::RowAbsent);
    let changed = clear(Guard::RowIs(absent.clone()));
    assert_eq!(f.refuse(changed).await, Refusal::RowChanged);
    let due = f.now().after(std::time::Duration::from_secs(1));
    let early = clear(Guard::NotBefore(due));
    assert_eq!(f.refuse(early).await, Refusal::TooEarly(f.now()));
    let of_stream = [
        Guard::InboxSeen(0),
        Guard::EndsAt(RecordNumber(1)),
        Guard::UnconsumedEventsBelow(9),
    ];
    for guard in of_stream {
        assert_eq!(f.refuse(clear(guard)).await, Refusal::NoStream);
    }
    f.accept(clear(Guard::RowAbsent(absent.key()))).await;
}

/// Of concurrent commits that require and delete the same rows of a removed stream, one deletes
/// each row.
pub async fn concurrent_guards_hold_after_the_stream_is_gone<S: Store>(f: &Fixture<S>) {
    for round in 0..10 {
        let stream = f.create(&format!("{round}")).await;
        let timers = (0..20).map(|due| Row::Timer(timer(stream, due, None)));
        let timers: Vec<Row> = timers.collect();
        let mut commit = closing(stream);
        commit.rows.put.clone_from(&timers);
        f.accept(commit).await;
        f.accept(removal(&[stream])).await;
        let deletions = timers.iter().map(|timer| {
            let mut commit = row_change(stream);
            commit.guards.push(Guard::RowPresent(timer.key()));
            commit.rows.delete.push(timer.key());
            Commit::from(commit)
        });
        let deletions: Vec<Commit> = deletions.collect();
        let outcomes = std::thread::scope(|threads| {
            let commit = || block_on(f.store.commit(&deletions)).unwrap();
            let both = [threads.spawn(commit), threads.spawn(commit)];
            both.map(|outcomes| outcomes.join().unwrap())
        });
        for (one, other) in outcomes[0].iter().zip(&outcomes[1]) {
            let absent = Outcome::Refused(Refusal::RowAbsent);
            let refused = [one, other].map(|outcome| *outcome == absent);
            assert!(refused[0] != refused[1], "{one:?} {other:?}");
        }
    }
}
