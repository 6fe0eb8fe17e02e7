//! Two engines on one store: conflicts have one winner, and each sees what the other writes.

use std::time::Duration;

use everstep_engine::streams::{
    Append, Appended, Create, Producer, ReadFrom, StreamError, Streams,
};

use crate::support::{append, create, fork_of, path, text, two_nodes, virtual_time, whole};

async fn append_soon(streams: &Streams, request: Append) -> Appended {
    loop {
        match streams.append(request.clone()).await {
            Ok(appended) => return appended,
            // The previous append is still in progress on the other node.
            Err(StreamError::SequenceGap { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn appends_of_a_producer_through_both_nodes_take_effect_once() {
    virtual_time(async {
        let nodes = two_nodes().await;
        let (one, other) = (nodes.0.streams(), nodes.1.streams());
        one.create(create("a", text())).await.unwrap();
        let through = async |streams: &Streams| {
            let mut taken = 0;
            for seq in 0..40 {
                let mut request = append("a", &format!("{seq};"));
                let id = "p".to_owned();
                request.producer = Some(Producer { id, epoch: 0, seq });
                taken += u32::from(!append_soon(streams, request).await.repeated);
            }
            taken
        };
        let (here, there) = tokio::join!(through(&one), through(&other));
        assert_eq!(here + there, 40);
        let expected: String = (0..40).map(|n| format!("{n};")).collect();
        assert_eq!(whole(&one, "a").await.unwrap(), expected);
    });
}

#[test]
fn of_two_appends_with_one_sequence_one_wins() {
    virtual_time(async {
        let nodes = two_nodes().await;
        let (one, other) = (nodes.0.streams(), nodes.1.streams());
        one.create(create("a", text())).await.unwrap();
        for round in 0..20 {
            let request = |by: &str| Append {
                seq: Some(format!("{round:04}")),
                ..append("a", by)
            };
            let both = tokio::join!(one.append(request("x")), other.append(request("y")));
            let won = [both.0.is_ok(), both.1.is_ok()];
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "{both:?}");
        }
        assert_eq!(whole(&one, "a").await.unwrap().len(), 20);
    });
}

#[test]
fn a_fork_never_loses_its_source_to_a_deletion_elsewhere() {
    virtual_time(async {
        let nodes = two_nodes().await;
        let (one, other) = (nodes.0.streams(), nodes.1.streams());
        for round in 0..20 {
            let (source, fork) = (format!("s{round}"), format!("f{round}"));
            one.create(create(&source, text())).await.unwrap();
            one.append(append(&source, "1")).await.unwrap();
            let request = Create {
                fork: fork_of(&source),
                ..create(&fork, text())
            };
            let gone = path(&source);
            let (forked, deleted) = tokio::join!(one.create(request), other.delete(&gone));
            deleted.unwrap();
            match forked {
                Ok(_) => assert_eq!(whole(&other, &fork).await.unwrap(), "1"),
                Err(StreamError::SourceMissing | StreamError::SourceGone) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
}

#[test]
fn a_reader_on_one_node_sees_an_append_on_the_other() {
    virtual_time(async {
        let nodes = two_nodes().await;
        let (one, other) = (nodes.0.streams(), nodes.1.streams());
        one.create(create("a", text())).await.unwrap();
        let mut reader = one.read(&path("a"), ReadFrom::Tail).await.unwrap();
        let patience = Duration::from_secs(3_600);
        let began = one.now();
        let (chunk, _) = tokio::join!(
            reader.next_within(100, patience),
            other.append(append("a", "x"))
        );
        assert_eq!(chunk.unwrap().messages, ["x"]);
        assert!(began.until(one.now()) < Duration::from_secs(1));
    });
}
