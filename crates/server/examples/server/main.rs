//! A server with one workflow, on a directory, in memory, or on a temporary PostgreSQL database.
//! The conformance suites and the guide of the HTTP API use it.
//!
//! ```text
//! cargo run -p everstep-server --example server -- --port 4437 --data ./data
//! ```

mod order;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use everstep::{Engine, Workflows};
use everstep_engine::TokioRuntime;
use everstep_private_postgres::Server as Database;
use everstep_server::{Access, Connections, Options, Origins, router, serve};
use everstep_store::{Clock, MemoryStore};
use everstep_store_embedded::EmbeddedStore;
use everstep_store_postgres::{self as postgres, PostgresBus, PostgresStore};
use order::Order;
use tokio::net::TcpListener;

/// The kind of store.
enum Place {
    Memory,
    Directory(PathBuf),
    /// A database that ends with the process.
    Postgres,
}

struct Arguments {
    port: u16,
    place: Place,
    long_poll_timeout: Option<Duration>,
    /// How long to serve. `None` serves until interrupted.
    lasting: Option<Duration>,
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut parsed = Arguments {
        port: 4437,
        place: Place::Memory,
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
            "--data" => parsed.place = Place::Directory(value()?.into()),
            "--memory" => parsed.place = Place::Memory,
            "--postgres" => parsed.place = Place::Postgres,
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
    // Dropping it stops the database.
    let mut database = None;
    let builder = match &arguments.place {
        Place::Memory => Engine::on_store(Arc::new(MemoryStore::new(clock))),
        Place::Directory(path) => Engine::on_store(Arc::new(EmbeddedStore::open(path, clock)?)),
        Place::Postgres => {
            let url = database.insert(Database::start(&[])).url();
            let options = postgres::Options::new(&url)?;
            let store = PostgresStore::open(options.clone()).await?;
            let bus = PostgresBus::open(options)?;
            Engine::on_store(Arc::new(store)).bus(Arc::new(bus))
        }
    };
    let engine = builder
        .runtime(runtime)
        .workflows(Workflows::new().workflow(Order))
        .start()
        .await?;
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
    let mut connections = Connections::default();
    // Long timeouts, so that slow clients on a busy machine keep their connections.
    connections.head_timeout = Duration::from_secs(60);
    serve(listener, router(&engine, options), connections, ended).await;
    engine.shutdown().await;
    Ok(())
}
