//! A worker in this process that executes the load over HTTP.

use everstep::{Engine, Worker, Workflow, Workflows};

use super::local_server::LocalServer;

/// More than any load has runs in flight.
const SLOTS: u32 = 100_000;

pub(crate) struct RemoteWorker {
    worker: Worker,
    server: LocalServer,
}

impl RemoteWorker {
    /// Starts a server for the engine, and a worker for the workflow.
    pub(crate) async fn start(engine: &Engine, workflow: impl Workflow) -> anyhow::Result<Self> {
        let server = LocalServer::start(engine).await?;
        let worker = Worker::connect(format!("http://{}", server.address))
            .workflows(Workflows::new().workflow(workflow))
            .slots(SLOTS)
            .start()?;
        worker.connected().await;
        Ok(Self { worker, server })
    }

    pub(crate) async fn stop(self) {
        self.worker.shutdown().await;
        self.server.stop().await;
    }
}
