//! User streams: their rows, guards on these rows, forks, and removal.

use everstep_model::{RecordNumber, StreamName, StreamNumber};
use everstep_store::{
    CreateCommit, Guard, Outcome, ReadRequest, Refusal, Row, RowKey, RowsCommit, Store, StreamRow,
};

use crate::batch;
use crate::fixture::Fixture;
use crate::sample::{
    bare_stream_row, closing, creation, data, inbox, producer, removal, row_change, stream_row,
};

fn user_creation(path: &str) -> CreateCommit {
    let mut commit = creation("");
    commit.name = StreamName::of_user(path);
    commit.records = vec![data("a", true)];
    let row = bare_stream_row(StreamNumber(0));
    commit.rows.put.push(Row::Stream(Box::new(row)));
    commit
}

async fn create<S: Store>(f: &Fixture<S>, path: &str) -> StreamNumber {
    f.create_with(user_creation(path)).await
}

fn changed(row: &StreamRow) -> Row {
    let row = StreamRow {
        forks: row.forks + 1,
        ..row.clone()
    };
    Row::Stream(Box::new(row))
}

fn change(stream: StreamNumber, from: &StreamRow) -> RowsCommit {
    let mut commit = row_change(stream);
    let row = Row::Stream(Box::new(from.clone()));
    commit.guards.push(Guard::RowIs(row));
    commit.rows.put.push(changed(from));
    commit
}

/// With and without optional fields.
pub async fn stream_and_producer_rows_are_read_as_written<S: Store>(f: &Fixture<S>) {
    let (full, bare) = (create(f, "full").await, create(f, "bare").await);
    let long = "p".repeat(3_000);
    let mut commit = inbox(full, vec![]);
    commit.rows.put = vec![
        Row::Stream(Box::new(stream_row(full))),
        Row::Producer(producer(full, "p", 1)),
        Row::Producer(producer(full, &long, 2)),
    ];
    commit.records = vec![data("b", false), data("c", true)];
    let end = RecordNumber(3);
    let rows = commit.rows.put.clone().into_iter();
    let rows: Vec<Row> = rows.map(|row| row.filled_in(full, end, f.now())).collect();
    f.accept(commit).await;
    for row in rows {
        assert_eq!(f.row(row.key()).await, Some(row));
    }
    let row = Row::Stream(Box::new(bare_stream_row(bare)));
    assert_eq!(f.row(RowKey::Stream(bare)).await, Some(row));
    assert_eq!(f.row(RowKey::Producer(bare, "p".to_owned())).await, None);
}

/// The row must exist and equal the one that the author has read.
pub async fn a_changed_row_refuses_the_commit<S: Store>(f: &Fixture<S>) {
    let stream = create(f, "a").await;
    let row = bare_stream_row(stream);
    f.accept(change(stream, &row)).await;
    assert_eq!(f.refuse(change(stream, &row)).await, Refusal::RowChanged);
    assert_eq!(f.row(RowKey::Stream(stream)).await, Some(changed(&row)));
    let mut absent = inbox(stream, vec![data("b", true)]);
    let row = Row::Producer(producer(stream, "p", 1));
    absent.guards.push(Guard::RowIs(row));
    assert_eq!(f.refuse(absent).await, Refusal::RowChanged);
    assert_eq!(f.numbers(stream).await, [0]);
}

pub async fn a_row_changed_earlier_in_the_batch_refuses_the_commit<S: Store>(f: &Fixture<S>) {
    let stream = create(f, "a").await;
    let row = bare_stream_row(stream);
    let outcomes = f
        .commit(vec![change(stream, &row), change(stream, &row)])
        .await;
    assert!(matches!(outcomes[0], Outcome::Committed { .. }));
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowChanged));
}

/// A fork continues the numbers of its source.
pub async fn a_creation_may_begin_at_any_number<S: Store>(f: &Fixture<S>) {
    let mut commit = user_creation("a");
    commit.begins_at = RecordNumber(40);
    let with_records = f.create_with(commit.clone()).await;
    commit.name = StreamName::of_user("b");
    commit.records.clear();
    let without = f.create_with(commit).await;
    assert_eq!(f.numbers(with_records).await, [40]);
    assert_eq!(f.head(without).await.next, RecordNumber(40));
    let next = f.accept(inbox(without, vec![data("b", true)])).await;
    assert_eq!(next, RecordNumber(40));
    assert_eq!(f.numbers(without).await, [40]);
    assert_eq!(f.page(with_records, 41, 9).await.entries, []);
}

/// A stream row without a number belongs to the new stream; one with a number belongs to that
/// stream.
pub async fn a_commit_may_put_the_row_of_another_stream<S: Store>(f: &Fixture<S>) {
    let source = create(f, "source").await;
    let row = bare_stream_row(source);
    let mut commit = user_creation("fork");
    let guard = Guard::RowIs(Row::Stream(Box::new(row.clone())));
    commit.guards.push(guard);
    commit.rows.put.push(changed(&row));
    let fork = f.create_with(commit.clone()).await;
    let own = Row::Stream(Box::new(bare_stream_row(fork)));
    assert_eq!(f.row(RowKey::Stream(fork)).await, Some(own));
    assert_eq!(f.row(RowKey::Stream(source)).await, Some(changed(&row)));
    commit.name = StreamName::of_user("other");
    assert_eq!(f.refuse(commit).await, Refusal::RowChanged);
    assert_eq!(f.head_of("streams/other").await, None);
}

/// Invariant 27: a closed user stream accepts no records. Its rows may still change.
pub async fn a_closed_user_stream_accepts_rows_but_no_records<S: Store>(f: &Fixture<S>) {
    let stream = create(f, "a").await;
    f.accept(closing(stream)).await;
    let row = bare_stream_row(stream);
    f.accept(change(stream, &row)).await;
    assert_eq!(f.row(RowKey::Stream(stream)).await, Some(changed(&row)));
    let mut late = inbox(stream, vec![data("b", true)]);
    assert_eq!(f.refuse(late.clone()).await, Refusal::Closed);
    late.records.clear();
    late.close = true;
    assert_eq!(f.refuse(late).await, Refusal::Closed);
}

pub async fn an_open_user_stream_is_removed_with_its_rows<S: Store>(f: &Fixture<S>) {
    let (stream, kept) = (create(f, "a").await, create(f, "b").await);
    for stream in [stream, kept] {
        let mut commit = inbox(stream, vec![data("b", true)]);
        commit
            .rows
            .put
            .push(Row::Producer(producer(stream, "p", 1)));
        f.accept(commit).await;
    }
    f.accept(removal(&[stream])).await;
    let p = || "p".to_owned();
    assert_eq!(f.row(RowKey::Stream(stream)).await, None);
    assert_eq!(f.row(RowKey::Producer(stream, p())).await, None);
    assert_eq!(f.head_of("streams/a").await, None);
    assert!(f.row(RowKey::Stream(kept)).await.is_some());
    assert!(f.row(RowKey::Producer(kept, p())).await.is_some());
    assert_eq!(f.numbers(kept).await, [0, 1]);
}

/// Also covers rows that changed earlier in the batch.
pub async fn a_removal_is_refused_by_its_guards<S: Store>(f: &Fixture<S>) {
    let stream = create(f, "a").await;
    let row = bare_stream_row(stream);
    let mut gone = removal(&[stream]);
    let guard = Guard::RowIs(Row::Stream(Box::new(row.clone())));
    gone.guards.push(guard);
    let outcomes = f.commit(batch![change(stream, &row), gone.clone()]).await;
    assert_eq!(outcomes[1], Outcome::Refused(Refusal::RowChanged));
    assert_eq!(f.refuse(gone.clone()).await, Refusal::RowChanged);
    assert_eq!(f.numbers(stream).await, [0]);
    gone.guards = vec![Guard::RowIs(changed(&row))];
    f.accept(gone).await;
    assert_eq!(f.head_of("streams/a").await, None);
}

/// Removing a fork decreases the count in the row of its source.
pub async fn a_removal_may_change_rows_of_other_streams<S: Store>(f: &Fixture<S>) {
    let (source, fork) = (create(f, "a").await, create(f, "b").await);
    let row = bare_stream_row(source);
    let mut gone = removal(&[fork]);
    let guard = Guard::RowIs(Row::Stream(Box::new(row.clone())));
    gone.guards.push(guard);
    gone.rows.put.push(changed(&row));
    f.accept(gone).await;
    assert_eq!(f.row(RowKey::Stream(source)).await, Some(changed(&row)));
    assert_eq!(f.row(RowKey::Stream(fork)).await, None);
}

/// A page always has at least one record.
pub async fn a_page_stops_near_its_bytes<S: Store>(f: &Fixture<S>) {
    let stream = create(f, "a").await;
    let large = "x".repeat(1_000);
    for _ in 0..20 {
        f.accept(inbox(stream, vec![data(&large, true)])).await;
    }
    for (bytes, most) in [(0, 2), (1, 2), (3_000, 5), (usize::MAX, 21)] {
        let request = ReadRequest {
            stream,
            from: RecordNumber(0),
            limit: 100,
            bytes,
        };
        let page = f.store.read(request).await.unwrap().unwrap();
        let read = page.entries.len();
        assert!((1..=most).contains(&read), "{bytes}: {read}");
        assert_eq!(page.end, RecordNumber(21));
    }
}
