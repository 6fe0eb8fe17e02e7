//! A server in this process on a free local port, to measure the protocol without a network, and a
//! worker that executes the load over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use everstep::{Engine, Worker, Workflow, Workflows};
use everstep_server::{Access, Connections, Options, router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than any benchmark.
const SSE_LIFETIME: Duration = Duration::from_secs(1_000_000);

/// More than any load has runs in flight.
const SLOTS: u32 = 100_000;

pub(crate) struct LocalServer {
    pub(crate) address: SocketAddr,
    server: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl LocalServer {
    pub(crate) async fn start(engine: &Engine) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut options = Options::default();
        options.access = Access::Open;
        options.loopback_only = true;
        options.sse_lifetime = SSE_LIFETIME;
        let mut connections = Connections::default();
        // All clients have disconnected when the server stops.
        connections.grace = Duration::ZERO;
        let (stop, stopped) = oneshot::channel();
        let serving = serve(listener, router(engine, options), connections, async move {
            let _ = stopped.await;
        });
        let server = tokio::spawn(serving);
        Ok(Self {
            address,
            server,
            stop,
        })
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.server.await;
    }
}

pub(crate) struct RemoteWorker {
    worker: Worker,
    server: LocalServer,
}

impl RemoteWorker {
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
