//! Through PgBouncer in transaction mode, where a connection to the server is somebody else's after every statement.

use std::sync::{Arc, LazyLock};

use everstep_private_postgres::{Pooler, Server};
use everstep_store::{Clock, Outcome};
use everstep_store_testkit::{property, sample};

use crate::support::{Place, Sender, create, in_parallel, records};

/// Nodes that share the few connections of the pooler.
const NODES: usize = 6;
const BATCHES: usize = 20;

/// The pooler that these tests share; none where PgBouncer cannot be installed, and then nothing is tested.
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
    let place = |clock: Arc<dyn Clock>| Place::at(pooler.url()).judged_by(clock);
    property::check(40, place);
}

#[test]
fn many_nodes_share_a_few_connections_to_the_server() {
    let Some(pooler) = pooler() else { return };
    in_parallel(async {
        let place = Place::at(pooler.url());
        let stream = create(&*place.store().await, &["shared"]).await[0];
        let nodes = (0..NODES).map(|_| {
            let place = place.clone();
            tokio::spawn(async move {
                let mut sender = Sender::new(place.store().await);
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
        let store = place.store().await;
        // And the one that created it.
        assert_eq!(records(&store, stream).await.len(), NODES * BATCHES + 1);
    });
}
