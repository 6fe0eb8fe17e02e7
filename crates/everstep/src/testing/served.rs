//! A test engine whose workflows are executed by a worker, as if it were in another process.

use std::sync::Arc;
use std::time::Duration;

use everstep_engine::simulation::VirtualRuntime;
use everstep_protocol::client::Transport;

use super::builder::TestEngineBuilder;
use crate::client::Client;
use crate::engine::Engine;
use crate::remote::Worker;

/// The address of the engine. Only the worker uses it.
const URL: &str = "http://test";
/// How long the server holds a long poll. Months pass quickly in tests.
const WAIT: Duration = Duration::from_secs(24 * 3_600);

impl TestEngineBuilder {
    /// If a server is configured, starts the worker, waits until its workflows are known, and
    /// returns the engine as a client sees it.
    pub(super) async fn serve(&self, engine: Engine, runtime: &Arc<VirtualRuntime>) -> Engine {
        let Some(server) = &self.server else {
            return engine;
        };
        let transport = server(&engine);
        if !self.engine.workflows.is_empty() {
            self.start_worker(transport.clone(), runtime).await;
        }
        let client = Client::connect(URL)
            .transport(transport)
            .runtime(runtime.clone())
            .wait(WAIT)
            .open();
        match client {
            Ok(client) => engine.with_client(client),
            Err(error) => panic!("the client of the test engine could not be opened: {error}"),
        }
    }

    async fn start_worker(&self, transport: Arc<dyn Transport>, runtime: &Arc<VirtualRuntime>) {
        let started = Worker::connect(URL)
            .transport(transport)
            .runtime(runtime.clone())
            .settings(self.engine.settings.clone())
            .defaults(self.engine.defaults)
            .workflows(self.engine.workflows.clone())
            .mocks(self.mocks.clone())
            .start();
        match started {
            Ok(worker) => worker.connected().await,
            Err(error) => panic!("the worker of the test engine could not be started: {error}"),
        }
    }
}
