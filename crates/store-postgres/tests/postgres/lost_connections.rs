//! Killed connections and a killed server during commits: each commit takes effect once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use everstep_model::{Body, StreamNumber};
use everstep_private_postgres::{Server, Stop};
use everstep_store::{Outcome, Store, StoreError, StreamRef};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::sample::{event, inbox};

use crate::support::{Installation, Sender, create, in_parallel, records};

/// Batches per sender.
const BATCHES: u64 = 75;
const NODES: u64 = 3;
/// Senders per node, on the same connections.
const SENDERS: u64 = 2;
/// Streams to which all senders write.
const SHARED: u64 = 3;
/// Streams to which one sender writes: enough for a batch to be mostly work, so that batches of a
/// node are pipelined.
const OWN: u64 = 40;

/// Sends numbered events to every stream, and returns their positions.
async fn send_events(
    store: Arc<PostgresStore>,
    name: String,
    streams: Vec<StreamNumber>,
    sent: Arc<AtomicU64>,
) -> (Vec<(StreamNumber, u64, String)>, u64) {
    let mut sender = Sender::new(store);
    let mut landed = Vec::new();
    for batch in 0..BATCHES {
        let text = format!("{name}-{batch}");
        let commits: Vec<_> = streams
            .iter()
            .map(|stream| inbox(*stream, vec![event(&text)]))
            .collect();
        for outcome in sender.send(commits).await {
            let Outcome::Committed { stream, first, .. } = outcome else {
                panic!("{outcome:?}");
            };
            landed.push((stream, first.0, text.clone()));
        }
        sent.fetch_add(1, Ordering::Relaxed);
    }
    (landed, sender.repeated)
}

/// Creates `count` streams.
async fn create_some(store: &PostgresStore, name: &str, count: u64) -> Vec<StreamNumber> {
    let names: Vec<String> = (0..count).map(|at| format!("{name}.{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    create(store, &names).await
}

/// Runs the nodes during a disturbance, and checks that every commit took effect once. Returns the
/// number of repeated batches.
async fn all_take_effect_once(installation: &Installation, mut disturb: impl AsyncFnMut()) -> u64 {
    let store = installation.store().await;
    let shared = create_some(&store, "shared", SHARED).await;
    let sent = Arc::new(AtomicU64::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let mut nodes = Vec::new();
    for node in 0..NODES {
        let store = installation.store().await;
        for sender in 0..SENDERS {
            let name = format!("{node}.{sender}");
            let mut streams = create_some(&store, &name, OWN).await;
            streams.extend(&shared);
            let sending = send_events(store.clone(), name, streams, sent.clone());
            nodes.push(tokio::spawn(sending));
        }
    }
    let watch = {
        let (over, sent) = (over.clone(), sent.clone());
        async move {
            let mut disturbed_at = 0;
            while !over.load(Ordering::Relaxed) {
                // Not more often than the work progresses.
                let now = sent.load(Ordering::Relaxed);
                if now > disturbed_at {
                    disturbed_at = now + 10;
                    disturb().await;
                }
                tokio::task::yield_now().await;
            }
        }
    };
    let collect = async {
        let mut landed = Vec::new();
        let mut repeated = 0;
        for node in nodes {
            let (of_node, again) = node.await.unwrap();
            landed.extend(of_node);
            repeated += again;
        }
        over.store(true, Ordering::Relaxed);
        (landed, repeated)
    };
    let ((landed, repeated), ()) = futures_util::future::join(collect, watch).await;
    let mut streams: Vec<StreamNumber> = landed.iter().map(|(stream, _, _)| *stream).collect();
    streams.sort();
    streams.dedup();
    assert_eq!(streams.len() as u64, SHARED + NODES * SENDERS * OWN);
    for stream in &streams {
        let records = records(&store, *stream).await;
        let senders = if shared.contains(stream) {
            NODES * SENDERS
        } else {
            1
        };
        assert_eq!(records.len() as u64, 1 + senders * BATCHES, "each once");
        for (_, first, text) in landed.iter().filter(|(of, _, _)| of == stream) {
            let Body::Event(event) = &records[usize::try_from(*first).unwrap()].body else {
                panic!("no event");
            };
            assert_eq!(event.payload.decode::<String>().unwrap(), *text);
        }
    }
    repeated
}

/// Invariants 4 and 6: a commit on a killed connection took effect or not; sent again, it takes
/// effect once.
#[test]
fn commits_on_killed_connections_take_effect_once() {
    in_parallel(async {
        let installation = Installation::new();
        let sql = installation.sql().await;
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
            WHERE application_name = $1 AND state = 'active'";
        let killed = AtomicU64::new(0);
        let namespace = installation.namespace().to_owned();
        all_take_effect_once(&installation, async || {
            let rows = sql.query(kill, &[&namespace]).await.unwrap();
            killed.fetch_add(rows.len() as u64, Ordering::Relaxed);
        })
        .await;
        let killed = killed.load(Ordering::Relaxed);
        println!("{killed} connections were killed in the middle of a call");
        assert!(killed > 10, "{killed}");
    });
}

/// Invariant 4, when the server crashes: acknowledged commits survive.
#[test]
fn commits_to_a_server_that_crashes_take_effect_once() {
    in_parallel(async {
        let server = Server::start(&[]);
        let installation = Installation::on(&server);
        let mut restarts = 0;
        let repeated = all_take_effect_once(&installation, async || {
            if restarts < 5 {
                restarts += 1;
                server.restart(Stop::Immediate);
            }
        })
        .await;
        assert_eq!(restarts, 5);
        assert!(repeated > 0, "no batch was repeated");
    });
}

/// While the database is unavailable, calls fail soon; afterwards they succeed.
#[test]
fn calls_fail_while_the_database_is_unavailable_and_succeed_afterwards() {
    in_parallel(async {
        let server = Server::start(&[]);
        let installation = Installation::on(&server);
        let store = installation.store().await;
        let stream = create(&store, &["a"]).await[0];
        server.stop(Stop::Fast);
        let begun = std::time::Instant::now();
        for _ in 0..20 {
            let commit = store
                .commit(&[inbox(stream, vec![event("x")]).into()])
                .await;
            assert!(
                matches!(commit, Err(StoreError::Unavailable { .. })),
                "{commit:?}"
            );
            let head = store.head(StreamRef::Number(stream)).await;
            assert!(
                matches!(head, Err(StoreError::Unavailable { .. })),
                "{head:?}"
            );
        }
        assert!(begun.elapsed().as_secs() < 20, "calls fail without waiting");
        server.resume();
        let head = loop {
            match store.head(StreamRef::Number(stream)).await {
                Ok(head) => break head.unwrap(),
                Err(_) => tokio::task::yield_now().await,
            }
        };
        assert_eq!(head.next.0, 1, "no unacknowledged commit took effect");
        let mut sender = Sender::new(store);
        let outcome = sender.send_one(inbox(stream, vec![event("x")])).await;
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
    });
}
