//! A test engine whose workflows are executed by a worker that speaks to it as from another process.

use std::sync::Arc;

use super::builder::TestEngineBuilder;
use super::runtime::VirtualRuntime;
use crate::engine::Engine;
use crate::remote::Worker;

/// The address under which the engine is served. Nobody but the worker hears it.
const URL: &str = "http://test";

impl TestEngineBuilder {
    /// Starts the worker, if there is one, and waits until its workflows are known.
    pub(super) async fn connect_worker(&self, engine: &Engine, runtime: &Arc<VirtualRuntime>) {
        let Some(server) = self
            .server
            .as_ref()
            .filter(|_| !self.definitions.is_empty())
        else {
            return;
        };
        let started = Worker::connect(URL)
            .transport(server(engine))
            .runtime(runtime.clone())
            .settings(self.settings.clone())
            .defaults(self.defaults)
            .definitions(self.definitions.clone())
            .mocks(self.mocks.clone())
            .start();
        match started {
            Ok(worker) => worker.connected().await,
            Err(error) => panic!("the worker of the test engine could not be started: {error}"),
        }
    }
}
