//! Reading journals: from anywhere, in pages, with gaps only where records were dropped.

use everstep_model::{RecordNumber, RecordRange, StreamNumber};
use everstep_store::{ReadRequest, Store};

use crate::fixture::Fixture;
use crate::sample::{event, executor, inbox, loop_advanced, range, step};

/// A stream of eight records, 0 to 7, in frames of 1, 3, 1 and 3.
async fn stream_of_eight<S: Store>(f: &Fixture<S>, name: &str) -> StreamNumber {
    let stream = f.create(name).await;
    f.accept(inbox(stream, vec![event("e1"), event("e2"), event("e3")]))
        .await;
    f.accept(inbox(stream, vec![event("e4")])).await;
    f.accept(inbox(stream, vec![event("e5"), event("e6"), event("e7")]))
        .await;
    stream
}

async fn drop_records<S: Store>(f: &Fixture<S>, stream: StreamNumber, ranges: &[RecordRange]) {
    let mut commit = inbox(stream, vec![]);
    commit.drop = ranges.to_vec();
    f.accept(commit).await;
}

/// Also inside a commit.
pub async fn reading_begins_anywhere<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    stream_of_eight(f, "b").await;
    for from in 0..=9 {
        let page = f.page(stream, from, 100).await;
        let numbers: Vec<u64> = page.entries.iter().map(|e| e.number.0).collect();
        assert_eq!(numbers, (from..8).collect::<Vec<_>>(), "from {from}");
        assert_eq!((page.end, page.closed), (RecordNumber(8), false));
    }
}

pub async fn a_page_stops_near_its_limit<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    for limit in 1..=8 {
        let page = f.page(stream, 1, limit).await;
        assert!(page.entries.len() >= limit.min(7), "{limit}");
        assert!(
            page.entries.len() <= limit + 2,
            "at most to the end of a commit"
        );
        assert_eq!(page.entries[0].number, RecordNumber(1));
    }
    assert!(f.page(stream, 0, 0).await.entries.len() <= 1);
}

pub async fn records_are_read_as_written<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    let entries = f.entries(stream).await;
    assert_eq!(entries.len(), 8);
    for entry in &entries[1..] {
        assert_eq!(entry.record, event(&format!("e{}", entry.number)));
    }
}

pub async fn an_unknown_stream_is_none<S: Store>(f: &Fixture<S>) {
    stream_of_eight(f, "a").await;
    let request = ReadRequest {
        stream: StreamNumber(4_711),
        from: RecordNumber(0),
        limit: 9,
        bytes: usize::MAX,
    };
    assert_eq!(f.store.read(request).await.unwrap(), None);
}

pub async fn a_page_reports_that_the_stream_is_closed<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    let mut close = inbox(stream, vec![event("bye")]);
    close.close = true;
    f.accept(close).await;
    let page = f.page(stream, 8, 9).await;
    assert_eq!(
        (page.entries.len(), page.end, page.closed),
        (1, RecordNumber(9), true)
    );
}

/// Other records of the stream keep their numbers, wherever the range begins and ends, and other
/// streams keep all their records.
// B185
pub async fn dropped_records_leave_gaps<S: Store>(f: &Fixture<S>) {
    let before = stream_of_eight(f, "before").await;
    for first in 0..8 {
        for last in first..8 {
            let name = format!("s{first}-{last}");
            let stream = stream_of_eight(f, &name).await;
            let after = stream_of_eight(f, &format!("{name}-after")).await;
            let others = [f.entries(before).await, f.entries(after).await];
            drop_records(f, stream, &[range(first, last)]).await;
            let now = [f.entries(before).await, f.entries(after).await];
            assert_eq!(now, others, "{name}: other streams keep their records");
            let left: Vec<u64> = (0..8).filter(|n| *n < first || *n > last).collect();
            assert_eq!(f.numbers(stream).await, left, "{name}");
            assert_eq!(f.head(stream).await.next, RecordNumber(8));
            for entry in f.entries(stream).await.iter().skip(1) {
                if entry.number.0 > 0 {
                    assert_eq!(entry.record, event(&format!("e{}", entry.number)));
                }
            }
            let page = f.page(stream, first, 100).await;
            assert!(
                page.entries
                    .iter()
                    .all(|e| e.number.0 > last || e.number.0 < first)
            );
        }
    }
}

/// Drops several ranges at once: overlapping, empty, beyond the end, and twice.
pub async fn drops_may_overlap_and_repeat<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    let ranges = [
        range(1, 1),
        range(3, 5),
        range(5, 5),
        range(6, 2),
        range(100, 200),
    ];
    drop_records(f, stream, &ranges).await;
    drop_records(f, stream, &ranges).await;
    assert_eq!(f.numbers(stream).await, [0, 2, 6, 7]);
    drop_records(f, stream, &[range(2, 6)]).await;
    assert_eq!(f.numbers(stream).await, [0, 7]);
    f.accept(inbox(stream, vec![event("e8")])).await;
    assert_eq!(f.numbers(stream).await, [0, 7, 8]);
}

/// A page that begins in a gap is not empty if records follow, however few bytes it may have.
// B868
pub async fn a_page_that_begins_in_a_gap_has_a_record<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    // The end of one frame and all of the next.
    drop_records(f, stream, &[range(2, 4)]).await;
    f.accept(inbox(stream, vec![event("e8")])).await;
    for (from, first) in [(0, 0), (1, 1), (2, 5), (3, 5), (4, 5), (5, 5), (8, 8)] {
        for (limit, bytes) in [(1, 1), (1, usize::MAX), (100, 1)] {
            let request = ReadRequest {
                stream,
                from: RecordNumber(from),
                limit,
                bytes,
            };
            let page = f.store.read(request).await.unwrap().unwrap();
            let number = page.entries.first().map(|entry| entry.number.0);
            assert_eq!(number, Some(first), "{request:?}");
        }
    }
}

/// Pages from any number contain exactly the remaining records.
pub async fn pages_skip_gaps<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    drop_records(f, stream, &[range(1, 2), range(4, 4)]).await;
    drop_records(f, stream, &[range(5, 6), range(0, 0)]).await;
    f.accept(inbox(stream, vec![event("e8"), event("e9")]))
        .await;
    drop_records(f, stream, &[range(8, 100)]).await;
    f.accept(inbox(stream, vec![event("e10")])).await;
    for start in 0..=11 {
        let (mut from, mut read) = (start, Vec::new());
        loop {
            let page = f.page(stream, from, 1).await;
            let Some(last) = page.entries.last() else {
                break;
            };
            from = last.number.0 + 1;
            read.extend(page.entries.iter().map(|entry| entry.number.0));
        }
        let left = [3, 7, 10].into_iter().filter(|number| *number >= start);
        assert_eq!(read, left.collect::<Vec<u64>>(), "from {start}");
    }
}

/// The records of the commit itself stay.
pub async fn a_commit_drops_only_earlier_records<S: Store>(f: &Fixture<S>) {
    let (stream, fence) = f.create_claimed("a").await;
    let first = executor(stream, fence, 1, 1, vec![step("s"), step("t")]);
    let dropped = [range(1, 9)];
    let mut second = executor(
        stream,
        fence,
        2,
        3,
        vec![loop_advanced(&dropped), step("u")],
    );
    second.drop = dropped.to_vec();
    f.commit(vec![first, second]).await;
    assert_eq!(f.numbers(stream).await, [0, 3, 4]);
    assert_eq!(f.entries(stream).await[2].record, step("u"));
    let mut third = executor(stream, fence, 3, 5, vec![loop_advanced(&[range(4, 4)])]);
    third.drop = vec![range(4, 4)];
    f.accept(third).await;
    assert_eq!(f.numbers(stream).await, [0, 3, 5]);
}

pub async fn dropping_records_does_not_change_counts<S: Store>(f: &Fixture<S>) {
    let stream = stream_of_eight(f, "a").await;
    drop_records(f, stream, &[range(0, 7)]).await;
    assert!(f.entries(stream).await.is_empty());
    assert_eq!(f.head(stream).await.frame.inbox_count, 8);
    f.accept(inbox(stream, vec![event("x")])).await;
    assert_eq!(f.head(stream).await.frame.inbox_count, 9);
}
