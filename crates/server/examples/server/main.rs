//! A server on one directory or in memory, with a workflow to talk to. The conformance suites run against it, and the guide of
//! the HTTP API.
//!
//! ```text
//! cargo run -p everstep-server --example server -- --port 4437 --data ./data
//! ```

mod order;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use everstep::Engine;
use everstep_engine::TokioRuntime;
use everstep_server::{Access, Connections, Options, Origins, router, serve};
use everstep_store::{Clock, MemoryStore, Store};
use everstep_store_embedded::EmbeddedStore;
use order::Order;
use tokio::net::TcpListener;

struct Arguments {
    port: u16,
    data: Option<PathBuf>,
    long_poll_timeout: Option<Duration>,
    /// How long it serves, if not until it is stopped.
    lasting: Option<Duration>,
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut parsed = Arguments {
        port: 4437,
        data: None,
        long_poll_timeout: None,
        lasting: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut value = || {
            given
                .next()
                .with_context(|| format!("{name} takes a value"))
        };
        match name.as_str() {
            "--port" => parsed.port = value()?.parse()?,
            "--data" => parsed.data = Some(value()?.into()),
            "--memory" => parsed.data = None,
            "--long-poll-timeout" => {
                parsed.long_poll_timeout = Some(everstep_model::parse_duration(&value()?)?);
            }
            "--for" => parsed.lasting = Some(everstep_model::parse_duration(&value()?)?),
            unknown => anyhow::bail!("unknown argument {unknown}"),
        }
    }
    Ok(parsed)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = arguments()?;
    let runtime = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
    let clock: Arc<dyn Clock> = runtime.clone();
    let store: Arc<dyn Store> = match &arguments.data {
        Some(path) => Arc::new(EmbeddedStore::open(path, clock)?),
        None => Arc::new(MemoryStore::new(clock)),
    };
    let engine = Engine::on_store(store).runtime(runtime).workflow(Order);
    let engine = engine.start().await?;
    let mut options = Options::default();
    options.access = Access::Open;
    options.loopback_only = true;
    options.origins = Origins::Loopback;
    if let Some(timeout) = arguments.long_poll_timeout {
        options.long_poll_timeout = timeout;
    }
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    println!("http://{}/v1/stream/", listener.local_addr()?);
    let ended = async {
        let stopped = tokio::signal::ctrl_c();
        match arguments.lasting {
            Some(lasting) => drop(tokio::time::timeout(lasting, stopped).await),
            None => drop(stopped.await),
        }
    };
    let connections = Connections::default();
    serve(listener, router(&engine, options), connections, ended).await;
    engine.shutdown().await;
    Ok(())
}
