//! A server in this process on a free local port, to measure the protocol without a network.

use std::net::SocketAddr;
use std::time::Duration;

use everstep::Engine;
use everstep_server::{Access, Connections, Options, router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than any benchmark.
const SSE_LIFETIME: Duration = Duration::from_secs(1_000_000);

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
        // All clients are gone when the server stops.
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
