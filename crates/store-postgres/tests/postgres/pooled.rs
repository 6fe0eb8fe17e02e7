//! The store behind PgBouncer in transaction mode, where each transaction may use another server
//! connection.

use std::sync::{Arc, LazyLock};

use everstep_model::StreamNumber;
use everstep_private_postgres::{Pooler, Server};
use everstep_store::{Clock, Outcome};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::{property, sample};

use crate::support::{Installation, Sender, create, in_parallel, records};

/// Nodes that share the few connections of the pooler.
const NODES: usize = 6;
const BATCHES: usize = 20;
/// Enough for a batch to be mostly work, so that batches of a node would be pipelined without a
/// pooler.
const STREAMS: usize = 100;

/// The pooler that these tests share. Returns `None` if PgBouncer is not installed; the tests are
/// then skipped.
fn pooler() -> Option<&'static Pooler> {
    static SHARED: LazyLock<Option<Pooler>> = LazyLock::new(|| Pooler::start(Server::shared()));
    if SHARED.is_none() {
        eprintln!(
            "skipped: PgBouncer is not installed; `cargo xtask test --stage tools` installs it"
        );
    }
    SHARED.as_ref()
}

#[test]
fn random_batches_through_a_pooler_end_as_in_the_reference() {
    let Some(pooler) = pooler() else { return };
    let installation = |clock: Arc<dyn Clock>| Installation::at(pooler.url()).judged_by(clock);
    property::check(40, installation);
}

#[test]
fn many_nodes_share_a_few_connections_to_the_server() {
    let Some(pooler) = pooler() else { return };
    in_parallel(async {
        let installation = Installation::at(pooler.url());
        let stream = create(&*installation.store().await, &["shared"]).await[0];
        let nodes = (0..NODES).map(|_| {
            let installation = installation.clone();
            tokio::spawn(async move {
                let mut sender = Sender::new(installation.store().await);
                for _ in 0..BATCHES {
                    let event = sample::inbox(stream, vec![sample::event("ping")]);
                    let outcome = sender.send_one(event).await;
                    assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
                }
            })
        });
        let nodes: Vec<_> = nodes.collect();
        for node in nodes {
            node.await.unwrap();
        }
        let store = installation.store().await;
        // The first record is that of the creation.
        assert_eq!(records(&store, stream).await.len(), NODES * BATCHES + 1);
    });
}

/// PgBouncer splits pipelined statements: one half goes to one server process and the other half to
/// another.
#[test]
fn batches_are_not_pipelined_through_a_pooler() {
    let Some(pooler) = pooler() else { return };
    in_parallel(async {
        let installation = Installation::at(pooler.url());
        let mut senders = Vec::new();
        for node in 0..NODES / 2 {
            let store = installation.store().await;
            // One more than there are connections for commits.
            for lane in 0..3 {
                let names: Vec<String> = (0..STREAMS)
                    .map(|stream| format!("{node}.{lane}.{stream}"))
                    .collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let streams = create(&store, &names).await;
                senders.push(tokio::spawn(send_everywhere(store.clone(), streams)));
            }
        }
        let store = installation.store().await;
        for sender in senders {
            for stream in sender.await.unwrap() {
                assert_eq!(records(&store, stream).await.len(), 1 + BATCHES);
            }
        }
    });
}

/// Sends batches with an event for each of these streams, to which no other sender writes.
async fn send_everywhere(
    store: Arc<PostgresStore>,
    streams: Vec<StreamNumber>,
) -> Vec<StreamNumber> {
    let mut sender = Sender::new(store);
    for batch in 1..=BATCHES {
        let event = |stream: &StreamNumber| sample::inbox(*stream, vec![sample::event("ping")]);
        let outcomes = sender
            .send(streams.iter().map(event).collect::<Vec<_>>())
            .await;
        for outcome in outcomes {
            let Outcome::Committed { first, .. } = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(first.0, batch as u64);
        }
    }
    assert_eq!(sender.repeated, 0, "no connection was lost");
    streams
}
