//! A worker that executes the load over HTTP, in this process.

use everstep::{Engine, Worker, Workflow};

use super::served::Served;

/// As many runs as the load has in flight.
const SLOTS: u32 = 100_000;

pub(super) struct Remote {
    worker: Worker,
    served: Served,
}

impl Remote {
    /// Serves the engine to a worker with this workflow.
    pub(super) async fn start(engine: &Engine, workflow: impl Workflow) -> anyhow::Result<Self> {
        let served = Served::start(engine).await?;
        let worker = Worker::connect(format!("http://{}", served.address))
            .workflow(workflow)
            .slots(SLOTS)
            .start()?;
        worker.connected().await;
        Ok(Self { worker, served })
    }

    /// Ends the worker, then the server.
    pub(super) async fn end(self) {
        self.worker.shutdown().await;
        self.served.end().await;
    }
}
