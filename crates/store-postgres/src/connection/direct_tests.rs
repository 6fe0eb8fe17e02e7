//! Connections to a server, with and without TLS, and through PgBouncer.

use std::sync::Arc;

use everstep_private_postgres::{Pooler, Server};

use super::is_direct;
use crate::connection::connector::Connector;
use crate::connection::options::Options;

#[path = "../../tests/postgres/encrypted_server.rs"]
mod encrypted_server;

async fn is_direct_with(options: Options) -> bool {
    let connector = Connector::new(options, Arc::default()).unwrap();
    is_direct(&connector.connect().await.unwrap()).await
}

/// Runs a test on one thread: a call is sent before the next task runs.
pub(crate) fn on_one_thread(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

#[test]
fn a_connection_to_the_server_is_direct() {
    on_one_thread(async {
        for mode in ["disable", "prefer"] {
            let url = format!("{}?sslmode={mode}", Server::shared().url());
            assert!(is_direct_with(Options::new(&url).unwrap()).await);
        }
    });
}

#[test]
fn an_encrypted_connection_to_the_server_is_direct() {
    let server = encrypted_server::start();
    let port = server.port();
    let url = format!("postgres://postgres@localhost:{port}/postgres?sslmode=require");
    let options = Options::new(&url).unwrap();
    let options = options.certificate_authority(server.file(encrypted_server::AUTHORITY));
    on_one_thread(async { assert!(is_direct_with(options).await) });
}

#[test]
fn a_connection_to_a_pooler_is_not_direct() {
    let Some(pooler) = Pooler::start(Server::shared()) else {
        eprintln!(
            "skipped: PgBouncer is not installed; `cargo xtask test --stage tools` installs it"
        );
        return;
    };
    on_one_thread(async {
        for _ in 0..20 {
            let options = Options::new(&pooler.url()).unwrap();
            assert!(!is_direct_with(options).await);
        }
    });
}
