//! A server on a free port of this machine, in this process: what is measured is the protocol and not a network.

use std::net::SocketAddr;
use std::time::Duration;

use everstep::Engine;
use everstep_server::{Access, Connections, Options, router, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than any benchmark reads on one connection.
const SSE_LIFETIME: Duration = Duration::from_secs(1_000_000);

pub(super) struct Served {
    pub(super) address: SocketAddr,
    server: JoinHandle<()>,
    end: oneshot::Sender<()>,
}

impl Served {
    pub(super) async fn start(engine: &Engine) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut options = Options::default();
        options.access = Access::Open;
        options.loopback_only = true;
        options.sse_lifetime = SSE_LIFETIME;
        let mut connections = Connections::default();
        // Nobody is left who would wait for an answer.
        connections.grace = Duration::ZERO;
        let (end, ended) = oneshot::channel();
        let serving = serve(listener, router(engine, options), connections, async move {
            let _ = ended.await;
        });
        let server = tokio::spawn(serving);
        Ok(Self {
            address,
            server,
            end,
        })
    }

    pub(super) async fn end(self) {
        let _ = self.end.send(());
        let _ = self.server.await;
    }
}
