//! Opening by many nodes at once, several installations in one database, and settings and schemas
//! that are refused.

use everstep_model::ErrorCode;
use everstep_private_postgres::Server;
use everstep_store::{Store, StoreError, StreamRef};
use everstep_store_postgres::{Options, PostgresStore};
use everstep_store_testkit::sample::{event, inbox};

use crate::support::{Installation, create, in_parallel, number_of};

#[test]
fn many_nodes_can_create_the_tables_at_once() {
    in_parallel(async {
        let installation = Installation::new();
        let opened = (0..8).map(|_| {
            let options = installation.options();
            tokio::spawn(async move { PostgresStore::open(options).await })
        });
        let opened: Vec<_> = opened.collect();
        for store in opened {
            store.await.unwrap().unwrap();
        }
    });
}

#[test]
fn installations_in_one_database_are_separate() {
    in_parallel(async {
        let (one, other) = (
            Installation::new().store().await,
            Installation::new().store().await,
        );
        let stream = create(&one, &["a"]).await[0];
        assert_eq!(number_of(&other, "a").await, None);
        assert_eq!(other.head(StreamRef::Number(stream)).await, Ok(None));
    });
}

/// An upgrade replaces functions by name, so the schema must not contain those of applications.
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
        let installation = Installation::new();
        drop(installation.store().await);
        let sql = installation.sql().await;
        sql.batch_execute("UPDATE meta SET format = 5")
            .await
            .unwrap();
        match PostgresStore::open(installation.options()).await {
            Err(StoreError::Newer {
                found: 5, known: 4, ..
            }) => {}
            other => panic!("{other:?}"),
        }
        sql.batch_execute("UPDATE meta SET format = 2")
            .await
            .unwrap();
        match PostgresStore::open(installation.options()).await {
            Err(StoreError::Unavailable { detail }) => {
                assert!(detail.contains("choose another namespace"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Unreleased versions wrote format 4 before the names of functions ended with the format.
#[test]
fn a_schema_without_the_functions_of_its_format_is_refused() {
    in_parallel(async {
        let installation = Installation::new();
        drop(installation.store().await);
        let sql = installation.sql().await;
        let rename = ["commit_batch", "renew_lease"]
            .map(|name| format!("ALTER FUNCTION {name}_4 RENAME TO {name}"));
        sql.batch_execute(&rename.join(";")).await.unwrap();
        match PostgresStore::open(installation.options()).await {
            Err(StoreError::Unavailable { detail }) => {
                for part in [
                    "has format 4, but not the functions commit_batch_4, renew_lease_4",
                    "an unreleased version of Everstep has written it",
                    "choose another namespace, or drop the schema",
                ] {
                    assert!(detail.contains(part), "{detail}");
                }
            }
            other => panic!("{other:?}"),
        }
    });
}

/// The functions of another build of the same format are replaced, also under running nodes.
#[test]
fn functions_of_another_build_are_replaced() {
    in_parallel(async {
        let installation = Installation::new();
        let store = installation.store().await;
        let stream = create(&store, &["a"]).await[0];
        let sql = installation.sql().await;
        let older = "COMMENT ON TABLE meta IS NULL;
            CREATE OR REPLACE FUNCTION clock_millis() RETURNS bigint LANGUAGE sql VOLATILE RETURN 0;
            CREATE FUNCTION write_rows(of_another_build integer) RETURNS void LANGUAGE sql AS '';
            CREATE FUNCTION application() RETURNS bigint LANGUAGE sql RETURN 42";
        sql.batch_execute(older).await.unwrap();
        let opened = [installation.options(), installation.options()]
            .map(|options| tokio::spawn(async move { PostgresStore::open(options).await }));
        for store in opened {
            store.await.unwrap().unwrap();
        }
        let found = "SELECT clock_millis() > 0, application(), to_regprocedure('write_rows(integer)') IS NULL,
            (SELECT count(*) FROM pg_proc WHERE proname = 'write_rows' AND pronamespace = current_schema()::regnamespace)";
        let found = sql.query_one(found, &[]).await.unwrap();
        assert!(found.get::<_, bool>(0), "the body is that of this build");
        assert_eq!(found.get::<_, i64>(1), 42);
        assert!(
            found.get::<_, bool>(2),
            "inner functions are not overloaded"
        );
        assert_eq!(found.get::<_, i64>(3), 1);
        let commit = inbox(stream, vec![event("x")]);
        store.commit(&[commit.into()]).await.unwrap();
    });
}

/// The functions are replaced only if they differ: nodes that open a schema do not disturb others.
#[test]
fn functions_of_this_build_are_kept() {
    in_parallel(async {
        let installation = Installation::new();
        drop(installation.store().await);
        let sql = installation.sql().await;
        let function = "SELECT 'clock_millis'::regproc::oid";
        let before: u32 = sql.query_one(function, &[]).await.unwrap().get(0);
        drop(installation.store().await);
        let after: u32 = sql.query_one(function, &[]).await.unwrap().get(0);
        assert_eq!(after, before);
    });
}

/// An upgrade between the check of the format and the first call is not an outage that is retried.
#[test]
fn a_function_that_refuses_the_first_call_is_explained() {
    in_parallel(async {
        let installation = Installation::new();
        drop(installation.store().await);
        let sql = installation.sql().await;
        let refusing = "CREATE OR REPLACE FUNCTION adopt_history_4() RETURNS boolean LANGUAGE plpgsql \
            AS 'BEGIN RAISE EXCEPTION ''upgraded'' USING ERRCODE = ''ES004''; END'";
        sql.batch_execute(refusing).await.unwrap();
        let error = PostgresStore::open(installation.options())
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::StoreCorrupt, "{error}");
        assert!(error.to_string().contains("upgraded"), "{error}");
    });
}

/// Settings of a session or a role count like those of the server.
#[test]
fn settings_that_lose_commits_are_refused_unless_allowed() {
    in_parallel(async {
        let installation = Installation::new();
        let with = |setting: &str| {
            let url = format!("{}?options=-c%20{setting}", Server::shared().url());
            let options = Options::new(&url).unwrap();
            options.namespace(installation.namespace()).unwrap()
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
        let installation = Installation::on(&server);
        match PostgresStore::open(installation.options()).await {
            Err(StoreError::Unsafe { setting, .. }) => assert_eq!(setting, "fsync = off"),
            other => panic!("{other:?}"),
        }
        PostgresStore::open(installation.options().allow_lossy(true))
            .await
            .unwrap();
    });
}

#[test]
fn an_unreachable_database_is_unavailable() {
    in_parallel(async {
        let options = Options::new("postgres://nobody@127.0.0.1:1/none").unwrap();
        let refused = PostgresStore::open(options).await;
        assert!(
            matches!(refused, Err(StoreError::Unavailable { .. })),
            "{refused:?}"
        );
    });
}
