//! A worker that executes the load over HTTP: a server on a free port of this machine, and the worker in this process, so that what is
//! measured is the protocol and not a network.

use everstep::{Engine, Worker, Workflow};
use everstep_server::{Access, Connections, Options, serve, workers_router};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// As many runs as the load has in flight.
const SLOTS: u32 = 100_000;

pub(super) struct Remote {
    worker: Worker,
    server: JoinHandle<()>,
    end: oneshot::Sender<()>,
}

impl Remote {
    /// Serves the engine to a worker with this workflow.
    pub(super) async fn start(engine: &Engine, workflow: impl Workflow) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let mut options = Options::default();
        options.access = Access::Open;
        options.loopback_only = true;
        let router = workers_router(engine, options);
        let (end, ended) = oneshot::channel();
        let serving = serve(listener, router, Connections::default(), async move {
            let _ = ended.await;
        });
        let server = tokio::spawn(serving);
        let worker = Worker::connect(url)
            .workflow(workflow)
            .slots(SLOTS)
            .start()?;
        worker.connected().await;
        Ok(Self {
            worker,
            server,
            end,
        })
    }

    /// Ends the worker, then the server.
    pub(super) async fn end(self) {
        self.worker.shutdown().await;
        let _ = self.end.send(());
        let _ = self.server.await;
    }
}
