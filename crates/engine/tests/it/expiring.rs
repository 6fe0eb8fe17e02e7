//! Expiry of streams: use prolongs the lifetime, restarts keep it, and nothing is left afterwards.

use std::time::Duration;

use everstep_engine::streams::{Create, Lifetime, ReadFrom, StreamError, Streams};
use tokio::time::advance;

use crate::support::{append, create, for_each_store, fork_of, path, text};

const TTL: Duration = Duration::from_secs(100);

fn expiring(at: &str) -> Create {
    Create {
        lifetime: Lifetime::Ttl(TTL),
        ..create(at, text())
    }
}

async fn is_alive(streams: &Streams, at: &str) -> bool {
    match streams.info(&path(at)).await {
        Ok(_) => true,
        Err(StreamError::Missing | StreamError::Gone) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn run_woken_tasks() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn pass(time: Duration) {
    advance(time).await;
    run_woken_tasks().await;
}

#[test]
fn an_unused_stream_expires_and_frees_its_path() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(expiring("a")).await.unwrap();
        streams.append(append("a", "old")).await.unwrap();
        pass(TTL - Duration::from_secs(1)).await;
        assert!(is_alive(&streams, "a").await);
        // Expiry may be late by a twentieth of the lifetime.
        pass(Duration::from_secs(1) + TTL / 20).await;
        assert!(!is_alive(&streams, "a").await);
        let late = streams.append(append("a", "x")).await;
        assert!(matches!(late, Err(StreamError::Missing)));
        assert!(streams.create(expiring("a")).await.unwrap().created);
        let mut reader = streams.read(&path("a"), ReadFrom::Start).await.unwrap();
        assert!(reader.next_chunk(9).await.unwrap().messages.is_empty());
    });
}

#[test]
fn reads_and_appends_prolong_a_lifetime_and_inspection_does_not() {
    for_each_store(async |world| {
        let streams = world.streams();
        for at in ["read", "written", "looked-at"] {
            streams.create(expiring(at)).await.unwrap();
        }
        for _ in 0..5 {
            pass(TTL * 9 / 10).await;
            streams.read(&path("read"), ReadFrom::Tail).await.unwrap();
            streams.append(append("written", "x")).await.unwrap();
            let _ = streams.info(&path("looked-at")).await;
        }
        assert!(is_alive(&streams, "read").await && is_alive(&streams, "written").await);
        assert!(!is_alive(&streams, "looked-at").await);
        pass(TTL * 2).await;
        assert!(!is_alive(&streams, "read").await && !is_alive(&streams, "written").await);
    });
}

#[test]
fn a_restart_shortens_no_lifetime_and_prolongs_it_slightly() {
    for_each_store(async |mut world| {
        let streams = world.streams();
        streams.create(expiring("a")).await.unwrap();
        pass(TTL / 2).await;
        streams.read(&path("a"), ReadFrom::Tail).await.unwrap();
        run_woken_tasks().await;
        // Too short an interval to be saved.
        pass(TTL / 50).await;
        streams.read(&path("a"), ReadFrom::Tail).await.unwrap();
        run_woken_tasks().await;
        drop(streams);
        world.reopen().await;
        let streams = world.streams();
        pass(TTL - Duration::from_secs(1)).await;
        assert!(is_alive(&streams, "a").await);
        pass(Duration::from_secs(1) + TTL / 20).await;
        assert!(!is_alive(&streams, "a").await);
    });
}

#[test]
fn use_does_not_prolong_a_fixed_expiry() {
    for_each_store(async |world| {
        let streams = world.streams();
        let end = streams.now().after(TTL);
        let request = Create {
            lifetime: Lifetime::Until(end),
            ..create("a", text())
        };
        streams.create(request).await.unwrap();
        pass(TTL / 2).await;
        streams.append(append("a", "x")).await.unwrap();
        pass(TTL / 2).await;
        assert!(!is_alive(&streams, "a").await);
    });
}

#[test]
fn an_expired_source_is_kept_for_its_fork() {
    for_each_store(async |world| {
        let streams = world.streams();
        streams.create(expiring("a")).await.unwrap();
        streams.append(append("a", "1")).await.unwrap();
        let request = Create {
            fork: fork_of("a"),
            lifetime: Lifetime::Ttl(TTL * 100),
            ..create("b", text())
        };
        streams.create(request).await.unwrap();
        pass(TTL * 2).await;
        let gone = streams.info(&path("a")).await;
        assert!(matches!(gone, Err(StreamError::Gone)), "{gone:?}");
        let mut reader = streams.read(&path("b"), ReadFrom::Start).await.unwrap();
        assert_eq!(reader.next_chunk(9).await.unwrap().messages, ["1"]);
        streams.delete(&path("b")).await.unwrap();
        assert!(streams.create(expiring("a")).await.unwrap().created);
    });
}

#[test]
fn a_stream_that_was_reported_as_expired_stays_expired_when_the_clock_is_set_back() {
    for_each_store(async |mut world| {
        let streams = world.streams();
        let until = Create {
            lifetime: Lifetime::Until(streams.now().after(TTL)),
            ..create("until", text())
        };
        streams.create(until).await.unwrap();
        streams.create(expiring("unused")).await.unwrap();
        advance(TTL + TTL / 20).await;
        for at in ["until", "unused"] {
            assert!(!is_alive(&streams, at).await, "{at}");
        }
        world.runtime.set_clock_error(-3_600_000);
        run_woken_tasks().await;
        for at in ["until", "unused"] {
            assert!(!is_alive(&streams, at).await, "{at}");
        }
        drop(streams);
        world.reopen().await;
        for at in ["until", "unused"] {
            assert!(!is_alive(&world.streams(), at).await, "{at}");
        }
    });
}
