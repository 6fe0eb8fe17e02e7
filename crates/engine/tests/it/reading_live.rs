//! Readers that wait for messages and for the close of a stream.

use std::time::Duration;

use everstep_engine::streams::{Create, ReadFrom, StreamError};

use crate::support::{append, create, for_each_store, fork_of, path, text};

const LONG: Duration = Duration::from_secs(3_600);

#[test]
fn a_waiting_reader_gets_messages_and_the_close() {
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
fn a_wait_without_messages_times_out() {
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
        let request = Create {
            fork: fork_of("a"),
            ..create("b", text())
        };
        streams.create(request).await.unwrap();
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
fn a_waiting_reader_of_a_deleted_stream_gets_an_error() {
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
fn a_deleted_stream_that_is_kept_for_forks_is_not_reported_as_closed() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let request = Create {
            fork: fork_of("a"),
            ..create("b", text())
        };
        streams.create(request).await.unwrap();
        let mut reader = streams.read(&path("a"), ReadFrom::Start).await.unwrap();
        let gone = path("a");
        let (read, deleted) = tokio::join!(reader.next_within(100, LONG), streams.delete(&gone));
        deleted.unwrap();
        assert!(matches!(read, Err(StreamError::Gone)), "{read:?}");
    });
}
