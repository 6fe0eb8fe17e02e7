//! Timers: rows in the order in which they are due, until a commit deletes them.

use everstep_model::record::TimerPurpose;
use everstep_model::{StreamNumber, Timestamp};
use everstep_store::{Row, RowKey, RowsCommit, Store, TimerQuery, TimerRow};

use crate::fixture::Fixture;
use crate::sample::{row_change, timer};

fn put<'a>(stream: StreamNumber, timers: impl IntoIterator<Item = &'a TimerRow>) -> RowsCommit {
    let mut commit = row_change(stream);
    commit.rows.put = timers.into_iter().cloned().map(Row::Timer).collect();
    commit
}

fn delete<'a>(stream: StreamNumber, timers: impl IntoIterator<Item = &'a TimerRow>) -> RowsCommit {
    let mut commit = row_change(stream);
    commit.rows.delete = timers.into_iter().cloned().map(RowKey::Timer).collect();
    commit
}

const END: Timestamp = Timestamp::from_millis(u64::MAX);

/// The order in which they were set does not matter.
pub async fn timers_are_ordered_by_due_time<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    let set = [
        timer(a, 300, None),
        timer(a, 2, Some("s:0")),
        timer(a, 1, None),
    ];
    f.accept(put(a, &set)).await;
    f.accept(put(b, &[timer(b, 2, None), timer(b, 70_000, None)]))
        .await;
    let due: Vec<_> = f
        .timers(END)
        .await
        .iter()
        .map(|t| (t.due, t.stream))
        .collect();
    let mut sorted = due.clone();
    sorted.sort();
    assert_eq!(due.len(), 5);
    assert_eq!(due, sorted);
}

pub async fn a_timer_is_due_at_its_time_and_not_before<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let set = timer(stream, 10, None);
    f.accept(put(stream, [&set])).await;
    let just_before = Timestamp::from_millis(set.due.as_millis() - 1);
    assert!(f.timers(just_before).await.is_empty());
    assert_eq!(f.timers(set.due).await, [set]);
}

/// Also covers timers with equal times.
pub async fn paging_returns_every_timer_once<S: Store>(f: &Fixture<S>) {
    let (a, b) = (f.create("a").await, f.create("b").await);
    let locations = [
        None,
        Some("s:0"),
        Some("s:1"),
        Some("t:0"),
        Some("l/~2/s:0"),
        Some("l/~10/s:0"),
    ];
    for stream in [a, b] {
        let set: Vec<_> = locations
            .iter()
            .map(|location| timer(stream, 5, *location))
            .collect();
        f.accept(put(stream, &set)).await;
    }
    let mut seen: Vec<TimerRow> = Vec::new();
    loop {
        let query = TimerQuery {
            until: END,
            after: seen.last().cloned(),
            limit: 2,
        };
        let page = f.store.timers(query).await.unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, f.timers(END).await);
    assert_eq!(seen.len(), 12);
}

/// Deleting a timer twice is no error.
pub async fn a_deleted_timer_is_not_listed<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let (kept, gone) = (timer(stream, 5, Some("s:0")), timer(stream, 5, Some("s:1")));
    f.accept(put(stream, [&kept, &gone])).await;
    f.accept(delete(stream, [&gone])).await;
    f.accept(delete(stream, [&gone])).await;
    assert_eq!(f.timers(END).await, std::slice::from_ref(&kept));
    assert_eq!(f.row(RowKey::Timer(gone)).await, None);
    assert_eq!(
        f.row(RowKey::Timer(kept.clone())).await,
        Some(Row::Timer(kept))
    );
}

/// A timer may be set that is due before all timers that were read.
pub async fn an_earlier_timer_can_be_set_later<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let (late, early) = (timer(stream, 100, None), timer(stream, 1, None));
    f.accept(put(stream, [&late])).await;
    assert_eq!(f.timers(END).await, std::slice::from_ref(&late));
    f.accept(delete(stream, [&late])).await;
    assert!(f.timers(END).await.is_empty());
    f.accept(put(stream, [&early])).await;
    assert_eq!(f.timers(END).await, [early]);
}

/// A timer that one commit deletes and sets exists afterwards.
pub async fn deletes_come_before_puts<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let set = timer(stream, 5, None);
    let mut commit = put(stream, [&set]);
    commit.rows.delete.push(RowKey::Timer(set.clone()));
    f.accept(commit).await;
    assert_eq!(f.timers(END).await, [set]);
}

/// The last commit of the batch decides.
pub async fn a_batch_may_set_and_delete<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let (x, y) = (timer(stream, 5, None), timer(stream, 6, None));
    let batch = vec![
        put(stream, [&x]),
        delete(stream, [&x, &y]),
        put(stream, [&y]),
    ];
    f.commit(batch).await;
    assert_eq!(f.timers(END).await, [y]);
}

pub async fn purpose_and_location_are_part_of_a_timer<S: Store>(f: &Fixture<S>) {
    let stream = f.create("a").await;
    let purposes = [
        TimerPurpose::Sleep,
        TimerPurpose::Wait,
        TimerPurpose::Rpc,
        TimerPurpose::Retry,
        TimerPurpose::ExecutionRetry,
        TimerPurpose::Deadline,
    ];
    let deep = format!(
        "{}s:0",
        "scope-of-some-length:7/~18446744073709551615/".repeat(2_000)
    );
    let locations = [
        None,
        Some("größe ü:3"),
        Some("a b/x:1:2/~0/s:4294967295"),
        Some(deep.as_str()),
    ];
    let mut set = Vec::new();
    for purpose in purposes {
        for location in locations {
            set.push(TimerRow {
                purpose,
                ..timer(stream, 5, location)
            });
        }
    }
    f.accept(put(stream, &set)).await;
    let found = f.timers(END).await;
    assert_eq!(found.len(), set.len());
    for timer in &set {
        assert!(found.contains(timer), "{:?}", timer.purpose);
        assert!(f.row(RowKey::Timer(timer.clone())).await.is_some());
    }
}
