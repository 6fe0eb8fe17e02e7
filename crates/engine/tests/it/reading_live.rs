//! Readers that wait: told of what lands and of the close, not of what is another stream's.

use std::time::Duration;

use everstep_engine::streams::{Create, Fork, ReadFrom, StreamError};

use crate::support::{append, create, for_each_store, path, text};

const LONG: Duration = Duration::from_secs(3_600);

#[test]
fn a_reader_that_waits_gets_what_lands_and_then_the_close() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let mut reader = streams.read(&path("a"), ReadFrom::Tail).await.unwrap();
        let mut last = append("a", "last");
        last.close = true;
        let (chunk, appended) = tokio::join!(reader.next_within(100, LONG), streams.append(last));
        let chunk = chunk.unwrap();
        assert_eq!(chunk.messages, ["last"]);
        assert!(chunk.closed && chunk.next == appended.unwrap().next);
        let chunk = reader.next_within(100, LONG).await.unwrap();
        assert!(chunk.closed && chunk.messages.is_empty());
    });
}

#[test]
fn a_reader_that_waits_in_vain_hears_so() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let mut reader = streams.read(&path("a"), ReadFrom::Start).await.unwrap();
        let chunk = reader.next_within(100, LONG).await.unwrap();
        assert!(chunk.messages.is_empty() && chunk.up_to_date && !chunk.closed);
    });
}

#[test]
fn a_reader_of_a_fork_does_not_see_its_source_grow() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let fork = Some(Fork {
            source: path("a"),
            offset: None,
            sub_offset: 0,
        });
        let asked = Create {
            fork,
            ..create("b", text())
        };
        streams.create(asked).await.unwrap();
        let mut reader = streams.read(&path("b"), ReadFrom::Start).await.unwrap();
        streams.append(append("a", "x")).await.unwrap();
        let chunk = reader
            .next_within(100, Duration::from_secs(1))
            .await
            .unwrap();
        assert!(chunk.messages.is_empty());
        let landed = streams.append(append("b", "y"));
        let (chunk, _) = tokio::join!(reader.next_within(100, LONG), landed);
        assert_eq!(chunk.unwrap().messages, ["y"]);
    });
}

#[test]
fn a_reader_of_a_stream_that_is_deleted_is_told() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let mut reader = streams.read(&path("a"), ReadFrom::Start).await.unwrap();
        let gone = path("a");
        let (read, deleted) = tokio::join!(reader.next_within(100, LONG), streams.delete(&gone));
        deleted.unwrap();
        assert!(matches!(read, Err(StreamError::Missing)), "{read:?}");
    });
}

#[test]
fn a_reader_of_a_stream_that_is_kept_for_its_forks_does_not_take_it_for_closed() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let fork = Some(Fork {
            source: path("a"),
            offset: None,
            sub_offset: 0,
        });
        let asked = Create {
            fork,
            ..create("b", text())
        };
        streams.create(asked).await.unwrap();
        let mut reader = streams.read(&path("a"), ReadFrom::Start).await.unwrap();
        let gone = path("a");
        let (read, deleted) = tokio::join!(reader.next_within(100, LONG), streams.delete(&gone));
        deleted.unwrap();
        assert!(matches!(read, Err(StreamError::Gone)), "{read:?}");
    });
}
