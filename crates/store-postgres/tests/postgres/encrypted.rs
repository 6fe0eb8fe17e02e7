//! TLS to the server: connections are encrypted, and the server's certificate is checked.

use std::path::PathBuf;
use std::sync::LazyLock;

use everstep_private_postgres::Server;
use everstep_store::StoreError;
use everstep_store_postgres::{Options, PostgresStore};
use tokio_postgres::NoTls;

use crate::encrypted_server::{self, AUTHORITY};
use crate::support::{create, in_parallel};

fn server() -> &'static Server {
    static SHARED: LazyLock<Server> = LazyLock::new(encrypted_server::start);
    &SHARED
}

fn authority() -> PathBuf {
    server().file(AUTHORITY)
}

/// Options for the server with a certificate under this host name, with this mode.
fn options(host: &str, mode: &str) -> Options {
    let port = server().port();
    let url = format!(
        "postgres://postgres@{host}:{port}/postgres?sslmode={mode}&application_name={mode}"
    );
    Options::new(&url).unwrap()
}

async fn refused(options: Options) -> String {
    match PostgresStore::open(options).await {
        Err(StoreError::Unavailable { detail }) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn commits_are_encrypted_if_the_certificate_is_valid() {
    in_parallel(async {
        for mode in ["require", "verify-full"] {
            let options = options("localhost", mode).certificate_authority(authority());
            let store = PostgresStore::open(options).await.unwrap();
            create(&store, &[mode]).await;
            let (sql, connection) = tokio_postgres::connect(&server().url(), NoTls)
                .await
                .unwrap();
            tokio::spawn(connection);
            let question = "SELECT count(*), count(*) FILTER (WHERE s.ssl) FROM pg_stat_activity a
                JOIN pg_stat_ssl s USING (pid) WHERE a.application_name = $1";
            let found = sql.query_one(question, &[&mode]).await.unwrap();
            let (all, encrypted): (i64, i64) = (found.get(0), found.get(1));
            assert!(all > 0 && all == encrypted, "{encrypted} of {all}");
        }
    });
}

#[test]
fn an_unknown_authority_is_refused() {
    in_parallel(async {
        let detail = refused(options("localhost", "require")).await;
        assert!(detail.contains("certificate"), "{detail}");
    });
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    in_parallel(async {
        let options = options("127.0.0.1", "require").certificate_authority(authority());
        let detail = refused(options).await;
        assert!(detail.contains("certificate"), "{detail}");
    });
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_required() {
    in_parallel(async {
        let url = format!("{}?sslmode=require", Server::shared().url());
        let detail = refused(Options::new(&url).unwrap()).await;
        assert!(detail.contains("TLS"), "{detail}");
    });
}
