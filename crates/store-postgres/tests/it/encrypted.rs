//! TLS to the server: what travels is encrypted, and only a server that proves who it is gets it.

use std::path::PathBuf;
use std::sync::LazyLock;

use everstep_private_postgres::Server;
use everstep_store::StoreError;
use everstep_store_postgres::{Options, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_postgres::NoTls;

use crate::support::{create, in_parallel};

/// The certificate of the authority, beside the server's.
const AUTHORITY: &str = "authority.crt";

/// A server whose certificate is for `localhost`.
fn server() -> &'static Server {
    static SHARED: LazyLock<Server> = LazyLock::new(|| {
        let root_key = KeyPair::generate().unwrap();
        let mut root = CertificateParams::new(Vec::new()).unwrap();
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root_certificate = root.self_signed(&root_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let own = own.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
        let settings = [
            ("ssl", "on"),
            ("ssl_cert_file", "server.crt"),
            ("ssl_key_file", "server.key"),
        ];
        let files = [
            (AUTHORITY, root_certificate.pem()),
            ("server.crt", own.pem()),
            ("server.key", key.serialize_pem()),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        Server::start_with_files(&settings, &files)
    });
    &SHARED
}

fn authority() -> PathBuf {
    server().file(AUTHORITY)
}

/// Where the server with a certificate is, called by this name, for a client that wants this much.
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
fn commits_travel_encrypted_to_a_server_that_proves_its_name() {
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
