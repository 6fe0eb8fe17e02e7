//! Opening: by many nodes at once, side by side in one database, and not where commits would get
//! lost.

use everstep_private_postgres::Server;
use everstep_store::{Store, StoreError, StreamRef};
use everstep_store_postgres::{Options, PostgresStore};

use crate::support::{Place, create, in_parallel, number_of};

#[test]
fn many_nodes_may_make_the_tables_at_once() {
    in_parallel(async {
        let place = Place::new();
        let opened = (0..8).map(|_| {
            let options = place.options();
            tokio::spawn(async move { PostgresStore::open(options).await })
        });
        let opened: Vec<_> = opened.collect();
        for store in opened {
            store.await.unwrap().unwrap();
        }
    });
}

#[test]
fn installations_in_one_database_do_not_meet() {
    in_parallel(async {
        let (one, other) = (Place::new().store().await, Place::new().store().await);
        let stream = create(&one, &["a"]).await[0];
        assert_eq!(number_of(&other, "a").await, None);
        assert_eq!(other.head(StreamRef::Number(stream)).await, Ok(None));
    });
}

/// An upgrade replaces functions by their names, so the schema must not hold those of others.
#[test]
fn the_schema_of_applications_is_refused() {
    let options = Options::new("postgres://localhost/db").unwrap();
    match options.namespace("public") {
        Err(StoreError::Unsafe { remedy, .. }) => assert!(remedy.contains("everstep"), "{remedy}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_format_is_refused() {
    in_parallel(async {
        let place = Place::new();
        drop(place.store().await);
        let sql = place.sql().await;
        sql.batch_execute("UPDATE meta SET format = 5")
            .await
            .unwrap();
        match PostgresStore::open(place.options()).await {
            Err(StoreError::Newer {
                found: 5, known: 4, ..
            }) => {}
            other => panic!("{other:?}"),
        }
        sql.batch_execute("UPDATE meta SET format = 2")
            .await
            .unwrap();
        match PostgresStore::open(place.options()).await {
            Err(StoreError::Unavailable { detail }) => {
                assert!(detail.contains("choose another namespace"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Settings of a session or a role count like those of the server.
#[test]
fn settings_that_lose_commits_are_refused_unless_allowed() {
    in_parallel(async {
        let place = Place::new();
        let with = |setting: &str| {
            let url = format!("{}?options=-c%20{setting}", Server::shared().url());
            let options = Options::new(&url).unwrap();
            options.namespace(place.namespace()).unwrap()
        };
        match PostgresStore::open(with("synchronous_commit%3Doff")).await {
            Err(StoreError::Unsafe { setting, .. }) => {
                assert_eq!(setting, "synchronous_commit = off");
            }
            other => panic!("{other:?}"),
        }
        let lossy = with("synchronous_commit%3Doff").allow_lossy(true);
        PostgresStore::open(lossy).await.unwrap();
        let strict = with("default_transaction_isolation%3Dserializable").allow_lossy(true);
        let refused = PostgresStore::open(strict).await;
        assert!(
            matches!(refused, Err(StoreError::Unsafe { .. })),
            "{refused:?}"
        );
    });
}

#[test]
fn a_server_that_does_not_sync_is_refused() {
    in_parallel(async {
        let server = Server::start(&[("fsync", "off")]);
        let place = Place::on(&server);
        match PostgresStore::open(place.options()).await {
            Err(StoreError::Unsafe { setting, .. }) => assert_eq!(setting, "fsync = off"),
            other => panic!("{other:?}"),
        }
        PostgresStore::open(place.options().allow_lossy(true))
            .await
            .unwrap();
    });
}

#[test]
fn a_database_that_is_not_there_is_unavailable() {
    in_parallel(async {
        let options = Options::new("postgres://nobody@127.0.0.1:1/none").unwrap();
        let refused = PostgresStore::open(options).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable { .. })),
            "{refused:?}"
        );
    });
}
