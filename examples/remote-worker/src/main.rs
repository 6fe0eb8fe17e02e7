//! Three programs in one: a server that stores runs, a worker that executes them, and a client that
//! starts and controls them. Run each in its own terminal:
//!
//! ```text
//! cargo run -p everstep-remote-worker -- server ./orders
//! cargo run -p everstep-remote-worker -- worker
//! cargo run -p everstep-remote-worker -- client order-1
//! ```
//!
//! Stop the worker and start it again, or start several: the order is fulfilled once. `all DIR`
//! runs everything in one process, on a free port, for a minute at most.

mod order;

use std::time::Duration;

use anyhow::Context;
use everstep::{Client, Engine, RunStatus, Worker, Workflows};
use everstep_server::{Access, Connections, Options, router, serve};
use order::{Approval, Fulfilment, Order};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The default URL of the server.
const ADDRESS: &str = "127.0.0.1:4437";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let url = format!("http://{ADDRESS}");
    match arguments.as_slice() {
        ["server", directory] => {
            let listener = TcpListener::bind(ADDRESS).await?;
            println!("serving runs in {directory} at {url}");
            serve_runs(listener, directory, async {
                let _ = tokio::signal::ctrl_c().await;
            })
            .await
        }
        ["worker"] => {
            let worker = start_worker(&url)?;
            println!("executing runs of {url}; stop with Ctrl-C");
            tokio::signal::ctrl_c().await?;
            worker.shutdown().await;
            Ok(())
        }
        ["client", id] => order_something(&url, id).await,
        ["all", directory] => everything(directory).await,
        _ => anyhow::bail!("usage: server DIR | worker | client ID | all DIR"),
    }
}

/// Serves an engine without workflows of its own to local clients.
async fn serve_runs(
    listener: TcpListener,
    directory: &str,
    ended: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let engine = Engine::open(directory).start().await?;
    let mut options = Options::default();
    options.access = Access::Open;
    options.loopback_only = true;
    let serving = serve(
        listener,
        router(&engine, options),
        Connections::default(),
        async {
            ended.await;
            // Shut down the engine first, so that workers are notified and release their runs.
            engine.shutdown().await;
        },
    );
    serving.await;
    Ok(())
}

fn start_worker(url: &str) -> anyhow::Result<Worker> {
    let worker = Worker::connect(url)
        .workflows(Workflows::new().workflow(Fulfilment))
        .slots(100);
    Ok(worker.name("warehouse").start()?)
}

async fn order_something(url: &str, id: &str) -> anyhow::Result<()> {
    let client = Client::connect(url).open()?;
    let order = Order {
        article: "a lamp".to_owned(),
        amount: 40,
    };
    let run = client
        .start::<Fulfilment>(&order)
        .id(id)
        .tag("lamps")
        .await?;
    println!("client: {id} is {}", run.status().await?);
    while run.status().await? != RunStatus::Waiting {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("client: {}", run.why().await?);
    let approval = Approval {
        by: "ada".to_owned(),
    };
    run.send_once(&approval, "ada-said-yes").await?;
    let fulfilled = run.wait_within(Duration::from_secs(30)).await?;
    println!("client: {fulfilled}");
    Ok(())
}

/// Runs all three, and replaces the worker while the order waits.
async fn everything(directory: &str) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (end, ended) = oneshot::channel::<()>();
    let (directory, client_url) = (directory.to_owned(), url.clone());
    let server = tokio::spawn(async move {
        let ended = async {
            let _ = ended.await;
        };
        serve_runs(listener, &directory, ended).await
    });
    let first = start_worker(&url)?;
    first.connected().await;
    let ordering = tokio::spawn(async move { order_something(&client_url, "order-1").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    println!("  replacing the worker");
    first.shutdown().await;
    let second = start_worker(&url)?;
    let ordered = tokio::time::timeout(Duration::from_secs(50), ordering).await;
    ordered.context("the order was not fulfilled in time")???;
    second.shutdown().await;
    let _ = end.send(());
    server.await??;
    println!("done");
    Ok(())
}
