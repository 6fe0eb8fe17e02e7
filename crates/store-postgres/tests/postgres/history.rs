//! A database that fails over or is restored has another history, so every lease is void.

use everstep_model::{NodeId, Nonce};
use everstep_private_postgres::Server;
use everstep_store::{
    Claim, Fence, InboxLease, Lease, Outcome, Refusal, Store, StoreError, StreamRef,
};
use everstep_store_postgres::PostgresStore;
use everstep_store_testkit::sample::{executor, inbox, step};

use crate::support::{Installation, Sender, create, in_parallel};

const TTL: std::time::Duration = std::time::Duration::from_secs(3_600);

async fn take(
    store: &PostgresStore,
    stream: everstep_model::StreamNumber,
    node: u64,
) -> Option<Fence> {
    let node = NodeId(node);
    store.renew(Lease { node, ttl: TTL }).await.unwrap();
    let mut claim = inbox(stream, vec![]);
    let nonce = Nonce(node.0);
    claim.lease = InboxLease::Claim(Claim { node, nonce });
    match store.commit(&[claim.into()]).await.unwrap().remove(0) {
        Outcome::Committed { taken, .. } => taken,
        other => panic!("{other:?}"),
    }
}

/// Invariant 3, across a failover: rights that were granted before it are void.
#[test]
fn another_history_voids_every_lease() {
    in_parallel(async {
        let server = Server::start(&[]);
        let installation = Installation::on(&server);
        let store = installation.store().await;
        let stream = create(&store, &["run"]).await[0];
        let old = take(&store, stream, 1).await.unwrap();
        assert_eq!(take(&store, stream, 2).await, None, "it is held");

        server.become_standby();
        match PostgresStore::open(installation.options()).await {
            Err(StoreError::Unsafe { setting, .. }) => assert!(setting.contains("replica")),
            other => panic!("a replica was taken: {other:?}"),
        }
        // A node that had it open treats it as unavailable.
        let refused = store.commit(&[inbox(stream, vec![]).into()]).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable { .. })),
            "{refused:?}"
        );
        server.promote();

        // The old node continues by itself, with its numbering of commits.
        let mut sender = Sender::new(store.clone());
        let late = executor(stream, old, 1, 1, vec![step("late")]);
        assert_eq!(
            sender.send_one(late).await,
            Outcome::Refused(Refusal::Fenced)
        );
        let head = store
            .head(StreamRef::Number(stream))
            .await
            .unwrap()
            .unwrap();
        assert!(head.epoch > old.epoch && head.owner.is_none());
        let new = take(&store, stream, 2).await.unwrap();
        assert!(new.epoch > head.epoch);
        let step = executor(stream, new, 1, 1, vec![step("s")]);
        assert!(matches!(
            sender.send_one(step).await,
            Outcome::Committed { .. }
        ));
    });
}

/// A dump that is restored into another server is another database.
#[test]
fn another_database_voids_every_lease() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["run"]).await[0];
        let old = take(&store, stream, 1).await.unwrap();
        let sql = installation.sql().await;
        sql.batch_execute("UPDATE meta SET system_id = 1")
            .await
            .unwrap();
        let store = installation.store().await;
        let head = store
            .head(StreamRef::Number(stream))
            .await
            .unwrap()
            .unwrap();
        assert!(head.epoch > old.epoch && head.owner.is_none());
        // Opening it again changes nothing.
        let epoch = head.epoch;
        let store = installation.store().await;
        let head = store
            .head(StreamRef::Number(stream))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(head.epoch, epoch);
    });
}
