//! Hints reach other nodes, also after their connection was lost.

use std::sync::mpsc;
use std::time::Duration;

use everstep_model::StreamNumber;
use everstep_store::{Bus, Hint, Subscription};
use everstep_store_postgres::PostgresBus;

use crate::support::{Installation, in_parallel};

const PATIENCE: Duration = Duration::from_secs(30);

fn listen(bus: &PostgresBus) -> (mpsc::Receiver<Hint>, Subscription) {
    let (send, receive) = mpsc::channel();
    let subscription = bus.subscribe(Box::new(move |hint| {
        let _ = send.send(hint);
    }));
    (receive, subscription)
}

/// Publishes a hint until it is received, because the other node may not listen yet.
fn publish_until_received(bus: &PostgresBus, hint: Hint, received: &mpsc::Receiver<Hint>) {
    for _ in 0..300 {
        bus.publish(hint);
        let mut found = received
            .recv_timeout(Duration::from_millis(100))
            .into_iter();
        if found.any(|found| found == hint) {
            return;
        }
    }
    panic!("no hint was received");
}

#[test]
fn every_node_receives_a_hint_and_its_sender_receives_it_once() {
    let installation = Installation::new();
    let one = PostgresBus::open(installation.options()).unwrap();
    let other = PostgresBus::open(installation.options()).unwrap();
    let (here, _mine) = listen(&one);
    let (there, _theirs) = listen(&other);
    publish_until_received(&other, Hint::Grew(StreamNumber(2)), &here);
    publish_until_received(&one, Hint::Grew(StreamNumber(1)), &there);
    one.publish(Hint::Ready(StreamNumber(3)));
    let is_ready = |hint: &Hint| *hint == Hint::Ready(StreamNumber(3));
    while !is_ready(&there.recv_timeout(PATIENCE).unwrap()) {}
    // A copy from the database would arrive before this hint.
    other.publish(Hint::Outbox(StreamNumber(4)));
    let mut received = 0;
    loop {
        match here.recv_timeout(PATIENCE).unwrap() {
            Hint::Outbox(_) => break,
            hint => received += usize::from(is_ready(&hint)),
        }
    }
    assert_eq!(received, 1, "no copy comes from the database");
}

#[test]
fn the_listener_reconnects() {
    let installation = Installation::new();
    let one = PostgresBus::open(installation.options()).unwrap();
    let other = PostgresBus::open(installation.options()).unwrap();
    let (here, _ours) = listen(&one);
    let (there, _theirs) = listen(&other);
    // Once each has received a hint of the other, both listen.
    publish_until_received(&other, Hint::Grew(StreamNumber(2)), &here);
    publish_until_received(&one, Hint::Grew(StreamNumber(1)), &there);
    in_parallel(async {
        let kill =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        let sql = installation.sql().await;
        let killed = sql.query(kill, &[&installation.namespace()]).await.unwrap();
        assert!(killed.len() >= 4, "both listen, and both have sent");
    });
    while there.try_recv().is_ok() {}
    publish_until_received(&one, Hint::Grew(StreamNumber(3)), &there);
}
