//! The server process that the test kills.

use std::path::Path;
use std::sync::Arc;

use everstep_engine::{Engine, EngineParts, Settings, TokioRuntime};
use everstep_server::{Access, Connections, Options, router, serve};
use everstep_store::{Clock, LocalBus};
use everstep_store_embedded::EmbeddedStore;
use tokio::net::TcpListener;

/// Serves the store in a directory and prints the address.
pub(crate) fn run(dir: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let runtime = Arc::new(TokioRuntime::current().unwrap());
        let clock: Arc<dyn Clock> = runtime.clone();
        let engine = Engine::open(EngineParts {
            store: Arc::new(EmbeddedStore::open(dir, clock).unwrap()),
            bus: Arc::new(LocalBus::default()),
            runtime,
            settings: Settings::default(),
            workers: Vec::new(),
            failure_hooks: Vec::new(),
        })
        .await
        .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        let mut options = Options::default();
        options.access = Access::Open;
        let router = router(&engine, options);
        let never = std::future::pending();
        serve(listener, router, Connections::default(), never).await;
    });
}
