//! The verbs of streams, on each kind of store.

use everstep_engine::streams::{Create, Producer, ReadFrom, StreamError};

use crate::support::{append, create, for_each_store, fork_of, json, path, read_all, text, whole};

fn producer(epoch: u64, seq: u64) -> Option<Producer> {
    Some(Producer {
        id: "p".to_owned(),
        epoch,
        seq,
    })
}

#[test]
fn each_append_answers_with_the_end_of_its_own_messages() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let appends = (0..50).map(|n| streams.append(append("a", &format!("{n};"))));
        let ends = futures_util::future::join_all(appends).await;
        for (n, end) in ends.into_iter().enumerate() {
            let end = end.unwrap().next;
            let before = everstep_model::RecordNumber(end.next.0 - 1);
            let from = everstep_model::Offset {
                next: before,
                ..end
            };
            let (rest, ..) = read_all(&streams, &path("a"), ReadFrom::Offset(from))
                .await
                .unwrap();
            assert_eq!(rest[0], format!("{n};"));
        }
    });
}

#[test]
fn json_elements_keep_their_exact_bytes() {
    for_each_store(async |world| {
        let streams = world.streams();
        let body = br#"[ 12345678901234567890 , {"b": 1.10,  "a":[1,2]}, "x" ,[]]"#;
        let request = Create {
            body: body.as_slice().into(),
            ..create("a", json())
        };
        streams.create(request).await.unwrap();
        let (messages, ..) = read_all(&streams, &path("a"), ReadFrom::Start)
            .await
            .unwrap();
        let expected = [
            "12345678901234567890",
            r#"{"b": 1.10,  "a":[1,2]}"#,
            r#""x""#,
            "[]",
        ];
        assert_eq!(messages, expected);
    });
}

#[test]
fn refused_json_changes_nothing() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", json())).await.unwrap();
        let deep = "[".repeat(65) + &"]".repeat(65);
        for body in ["[]", "{", "[1,", "1 2", &deep, "\u{feff}1"] {
            let mut bad = append("a", body);
            bad.content_type = Some(json());
            bad.producer = producer(0, 0);
            bad.seq = Some("1".to_owned());
            let refused = streams.append(bad).await.unwrap_err();
            let expected = matches!(
                refused,
                StreamError::InvalidJson(_) | StreamError::NoMessage
            );
            assert!(expected, "{body}: {refused}");
        }
        let mut good = append("a", "1");
        good.content_type = Some(json());
        good.producer = producer(0, 0);
        good.seq = Some("1".to_owned());
        assert!(!streams.append(good).await.unwrap().repeated);
    });
}

#[test]
fn a_repeated_append_is_recognised_after_a_restart() {
    for_each_store(async |mut world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let mut first = append("a", "1");
        first.producer = producer(3, 0);
        let end = streams.append(first.clone()).await.unwrap().next;
        streams.append(append("a", "2")).await.unwrap();
        drop(streams);
        world.reopen().await;
        let streams = world.streams();
        let again = streams.append(first).await.unwrap();
        assert!(again.repeated);
        assert_eq!((again.next, again.seq), (end, Some(0)));
        assert_eq!(whole(&streams, "a").await.unwrap(), "12");
    });
}

#[test]
fn a_producer_may_send_its_appends_at_once() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let appends = (0..20).map(|seq| {
            let mut next = append("a", &format!("{seq};"));
            next.producer = producer(0, seq);
            streams.append(next)
        });
        for appended in futures_util::future::join_all(appends).await {
            assert!(!appended.unwrap().repeated);
        }
        let expected: String = (0..20).map(|n| format!("{n};")).collect();
        assert_eq!(whole(&streams, "a").await.unwrap(), expected);
    });
}

#[test]
fn a_repeated_close_by_the_same_producer_succeeds() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let mut last = append("a", "bye");
        last.producer = producer(0, 0);
        last.close = true;
        assert!(streams.append(last.clone()).await.unwrap().closed);
        assert!(streams.append(last.clone()).await.unwrap().repeated);
        last.producer = producer(0, 1);
        let refused = streams.append(last).await.unwrap_err();
        assert!(matches!(refused, StreamError::Closed { .. }), "{refused}");
        let mut close = append("a", "");
        close.close = true;
        assert!(streams.append(close).await.unwrap().repeated);
    });
}

#[test]
fn an_offset_of_an_earlier_stream_is_refused() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        let old = streams.append(append("a", "old")).await.unwrap().next;
        streams.delete(&path("a")).await.unwrap();
        assert!(matches!(
            whole(&streams, "a").await,
            Err(StreamError::Missing)
        ));
        streams.create(create("a", text())).await.unwrap();
        streams.append(append("a", "new")).await.unwrap();
        let read = streams.read(&path("a"), ReadFrom::Offset(old)).await;
        assert!(matches!(read, Err(StreamError::OldOffset)), "{read:?}");
        assert_eq!(whole(&streams, "a").await.unwrap(), "new");
    });
}

#[test]
fn a_deleted_source_is_kept_until_its_last_fork_is_deleted() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(create("a", text())).await.unwrap();
        streams.append(append("a", "1")).await.unwrap();
        for (at, from) in [("b", "a"), ("c", "b")] {
            let request = Create {
                fork: fork_of(from),
                ..create(at, text())
            };
            streams.create(request).await.unwrap();
            streams.append(append(at, at)).await.unwrap();
        }
        streams.append(append("a", "2")).await.unwrap();
        streams.delete(&path("a")).await.unwrap();
        streams.delete(&path("b")).await.unwrap();
        for gone in ["a", "b"] {
            assert!(matches!(
                whole(&streams, gone).await,
                Err(StreamError::Gone)
            ));
            let again = streams.create(create(gone, text())).await;
            assert!(matches!(again, Err(StreamError::Exists(_))));
            let late = streams.append(append(gone, "x")).await;
            assert!(matches!(late, Err(StreamError::Gone)));
        }
        assert_eq!(whole(&streams, "c").await.unwrap(), "1bc");
        streams.delete(&path("c")).await.unwrap();
        for at in ["a", "b", "c"] {
            assert!(streams.create(create(at, text())).await.unwrap().created);
            assert_eq!(whole(&streams, at).await.unwrap(), "");
        }
    });
}
