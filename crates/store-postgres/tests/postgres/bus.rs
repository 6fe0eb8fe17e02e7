//! Hints reach other nodes, also after their connection was lost.

use std::sync::mpsc;
use std::time::Duration;

use everstep_model::StreamNumber;
use everstep_store::{Bus, Hint, Subscription};
use everstep_store_postgres::PostgresBus;

use crate::support::{Place, in_parallel};

const PATIENCE: Duration = Duration::from_secs(30);

fn listen(bus: &PostgresBus) -> (mpsc::Receiver<Hint>, Subscription) {
    let (send, receive) = mpsc::channel();
    let subscription = bus.subscribe(Box::new(move |hint| {
        let _ = send.send(hint);
    }));
    (receive, subscription)
}

/// Says it until it is heard: nobody knows when another node has begun to listen.
fn say_until_heard(bus: &PostgresBus, hint: Hint, heard: &mpsc::Receiver<Hint>) {
    for _ in 0..300 {
        bus.publish(hint);
        let mut found = heard.recv_timeout(Duration::from_millis(100)).into_iter();
        if found.any(|found| found == hint) {
            return;
        }
    }
    panic!("nothing was heard");
}

#[test]
fn a_hint_is_heard_by_every_node_and_once_by_its_own() {
    let place = Place::new();
    let one = PostgresBus::open(place.options()).unwrap();
    let other = PostgresBus::open(place.options()).unwrap();
    let (here, _mine) = listen(&one);
    let (there, _theirs) = listen(&other);
    say_until_heard(&other, Hint::Grew(StreamNumber(2)), &here);
    say_until_heard(&one, Hint::Grew(StreamNumber(1)), &there);
    one.publish(Hint::Ready(StreamNumber(3)));
    let is_ready = |hint: &Hint| *hint == Hint::Ready(StreamNumber(3));
    while !is_ready(&there.recv_timeout(PATIENCE).unwrap()) {}
    // Whatever came back from the database would have come before this.
    other.publish(Hint::Outbox(StreamNumber(4)));
    let mut heard = 0;
    loop {
        match here.recv_timeout(PATIENCE).unwrap() {
            Hint::Outbox(_) => break,
            hint => heard += usize::from(is_ready(&hint)),
        }
    }
    assert_eq!(heard, 1, "not once more by way of the database");
}

#[test]
fn a_lost_connection_listens_again() {
    let place = Place::new();
    let one = PostgresBus::open(place.options()).unwrap();
    let other = PostgresBus::open(place.options()).unwrap();
    let (here, _ours) = listen(&one);
    let (there, _theirs) = listen(&other);
    // Once each has heard the other, both listen.
    say_until_heard(&other, Hint::Grew(StreamNumber(2)), &here);
    say_until_heard(&one, Hint::Grew(StreamNumber(1)), &there);
    in_parallel(async {
        let kill =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        let sql = place.sql().await;
        let killed = sql.query(kill, &[&place.namespace()]).await.unwrap();
        assert!(killed.len() >= 4, "both listen, and both have spoken");
    });
    while there.try_recv().is_ok() {}
    say_until_heard(&one, Hint::Grew(StreamNumber(3)), &there);
}
